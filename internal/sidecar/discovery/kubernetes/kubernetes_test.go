package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ready = `{.status.conditions[?(@.type=="Ready")].status}`

// longestWatch is the longest duration that client-go asks the API for.
const longestWatch = 10 * time.Minute

// pods returns a Config that finds the ready pods of some namespaces.
func pods(namespaces ...string) Config {
	return Config{
		Resource: "pods.v1", Namespaces: namespaces, Selector: "app=vllm", When: ready,
		URL: "http://{.status.podIP}:{.spec.containers[0].ports[0].containerPort}", Labels: map[string]string{"service": "{.metadata.labels.app}"},
	}
}

// scene runs a discoverer against a fake API in virtual time.
type scene struct {
	t       *testing.T
	api     *fakeAPI
	log     *strings.Builder
	mu      sync.Mutex
	targets []model.LabelSet // of the last answer
	answers int              // their number
}

func play(t *testing.T, c Config, f func(*scene)) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, api: newAPI(), log: &strings.Builder{}}
		d, err := newDiscoverer(c, s.api.client(t), "own", slog.New(slog.NewTextHandler(s.log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		up := make(chan []*targetgroup.Group)
		var running sync.WaitGroup
		running.Go(func() { d.Run(ctx, up) })
		running.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case groups := <-up:
					s.mu.Lock()
					s.targets, s.answers = groups[0].Targets, s.answers+1
					s.mu.Unlock()
				}
			}
		})
		f(s)
		cancel()
		running.Wait()
	})
}

// answerCount returns how often the discoverer sent its targets.
func (s *scene) answerCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers
}

// after waits, and compares the addresses of the targets with the wanted ones.
func (s *scene) after(d time.Duration, what string, want ...string) {
	s.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, l := range s.targets {
		got = append(got, string(l["base_url"]))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s\n%s", what, diff, s.log)
	}
}

// TestWatch covers pages of a list, changes, bookmarks, ended watches and both forms of an
// expired version.
func TestWatch(t *testing.T) {
	play(t, pods(""), func(s *scene) {
		s.after(time.Second, "no pods yet")
		if n := s.answerCount(); n != 1 {
			t.Errorf("%d answers: an empty list is one", n)
		}
		for i := range 5 {
			s.api.put("pods", pod("own", fmt.Sprint("p", i), "vllm", fmt.Sprint("10.0.0.", i), true))
		}
		s.api.put("pods", pod("own", "other", "nginx", "10.0.1.1", true))
		s.api.put("pods", pod("elsewhere", "p9", "vllm", "10.0.1.2", true))
		s.api.put("pods", pod("own", "p4", "vllm", "10.0.0.4", false))
		s.after(time.Second, "only the ready pods", "http://10.0.0.0:8000", "http://10.0.0.1:8000", "http://10.0.0.2:8000", "http://10.0.0.3:8000")
		dying := pod("own", "p3", "vllm", "10.0.0.3", true)
		dying["metadata"].(object)["deletionTimestamp"] = "2026-12-01T10:00:00Z"
		s.api.put("pods", dying)
		s.api.gone("pods", pod("own", "p2", "vllm", "10.0.0.2", true))
		s.after(time.Second, "one pod is being deleted, one is deleted", "http://10.0.0.0:8000", "http://10.0.0.1:8000")
		lists := s.api.lists
		s.api.bookmark()
		s.after(time.Second, "a bookmark changes nothing", "http://10.0.0.0:8000", "http://10.0.0.1:8000")
		s.api.cut()
		s.after(5*time.Second, "an ended watch loses nothing", "http://10.0.0.0:8000", "http://10.0.0.1:8000")
		s.api.put("pods", pod("own", "p6", "vllm", "10.0.0.6", true))
		s.after(time.Second, "and the next watch continues", "http://10.0.0.0:8000", "http://10.0.0.1:8000", "http://10.0.0.6:8000")
		if s.api.lists != lists {
			t.Errorf("%d lists more, want none", s.api.lists-lists)
		}
		s.api.set(func() { delete(s.api.objects["pods"], "own/p6") }) // without an event
		s.api.gone410()
		s.after(5*time.Second, "the next list finds what the watch missed", "http://10.0.0.0:8000", "http://10.0.0.1:8000")
		s.api.set(func() { delete(s.api.objects["pods"], "own/p1"); s.api.expired = true })
		s.api.cut()
		s.after(5*time.Second, "also if the watch is refused as expired", "http://10.0.0.0:8000")
		if s.api.lists != lists+4 { // of two pages each
			t.Errorf("%d lists more, want 4", s.api.lists-lists)
		}
		before := s.answerCount()
		s.after(3*repeatInterval, "no change", "http://10.0.0.0:8000")
		if s.answerCount() < before+2 {
			t.Error("no repeated answers")
		}
	})
}

// TestRefused: if the API refuses requests, the targets stay, the log says what to do, and the
// requests become rarer.
func TestRefused(t *testing.T) {
	play(t, pods("*"), func(s *scene) {
		s.api.put("pods", pod("a", "p", "vllm", "10.0.0.1", true))
		s.after(time.Second, "found", "http://10.0.0.1:8000")
		s.api.set(func() { s.api.refuse = 403 })
		s.api.cut()
		n := s.answerCount()
		s.after(time.Hour, "kept", "http://10.0.0.1:8000")
		if now := s.answerCount(); now != n {
			t.Errorf("%d answers although the API gives none", now-n)
		}
		if text := s.log.String(); !strings.Contains(text, "allow the service account get, list and watch") || !strings.Contains(text, "pods.v1 of all namespaces") {
			t.Errorf("the log does not help:\n%.300s", text)
		}
		if failures := strings.Count(s.log.String(), "Cannot read from the Kubernetes API"); failures < 60 || failures > 130 {
			t.Errorf("%d failures in an hour, want one to two a minute", failures)
		}
		s.api.set(func() { s.api.refuse = 0 })
		s.api.put("pods", pod("b", "p", "vllm", "10.0.0.2", true))
		s.api.set(func() { s.api.expired = true })
		s.after(2*time.Minute, "back", "http://10.0.0.1:8000", "http://10.0.0.2:8000")
	})
}

// TestWatchRefused: an API that answers lists but refuses watches is not asked for lists all the
// time.
func TestWatchRefused(t *testing.T) {
	for _, status := range []int{403, 410} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			play(t, pods("*"), func(s *scene) {
				s.api.set(func() { s.api.unwatch = status })
				s.api.put("pods", pod("a", "p", "vllm", "10.0.0.1", true))
				s.api.cut()
				want := []string{"http://10.0.0.1:8000"}
				if status == 403 {
					want = nil // a list without a watch does not count
				}
				s.after(time.Hour, "found by a list", want...)
				if s.api.lists < 60 || s.api.lists > 140 {
					t.Errorf("%d lists in an hour, want one to two a minute", s.api.lists)
				}
			})
		})
	}
}

// TestLostWatch: a watch that is silent and does not end, as behind a proxy that lost its peer, is
// ended. The next watch needs no list.
func TestLostWatch(t *testing.T) {
	play(t, pods("*"), func(s *scene) {
		s.api.put("pods", pod("a", "p", "vllm", "10.0.0.1", true))
		s.after(time.Second, "found", "http://10.0.0.1:8000")
		lists, watched := s.api.lists, s.api.watched
		s.api.set(func() { s.api.silent = true })
		s.after(longestWatch+2*listTimeout, "no events arrive", "http://10.0.0.1:8000")
		s.api.set(func() { s.api.silent = false })
		if s.api.watched == watched || s.api.lists != lists {
			t.Errorf("%d watches and %d lists more, want another watch and no list", s.api.watched-watched, s.api.lists-lists)
		}
		s.api.put("pods", pod("a", "q", "vllm", "10.0.0.2", true))
		s.after(time.Second, "the next watch has events", "http://10.0.0.1:8000", "http://10.0.0.2:8000")
	})
}

// TestNoVersion: a resource whose lists have no version cannot be watched. It is not listed all
// the time instead.
func TestNoVersion(t *testing.T) {
	play(t, pods("*"), func(s *scene) {
		s.api.put("pods", pod("a", "p", "vllm", "10.0.0.1", true))
		s.api.set(func() { s.api.noVersion = true; s.api.expired = true })
		s.api.cut()
		time.Sleep(time.Hour)
		synctest.Wait()
		if s.api.lists > 140 || !strings.Contains(s.log.String(), "no version to watch from") {
			t.Errorf("%d lists in an hour:\n%.300s", s.api.lists, s.log)
		}
	})
}

// TestIPv6: objects hold IPv6 addresses without the brackets that URLs need.
func TestIPv6(t *testing.T) {
	for in, want := range map[string]string{
		"http://fd00::1:8000": "http://[fd00::1]:8000", "http://2001:db8:0:0:0:0:0:7:8000/v1": "http://[2001:db8:0:0:0:0:0:7]:8000/v1",
		"http://2001:db8:0:0:0:0:0:7": "http://[2001:db8:0:0:0:0:0:7]", "http://[fd00::1]:8000": "http://[fd00::1]:8000",
		"http://10.0.0.1:8000/v1": "http://10.0.0.1:8000/v1", "http://host:8000": "http://host:8000", "host": "host", "": "", "http://:8000": "http://:8000",
	} {
		if got := bracketed(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	play(t, pods("*"), func(s *scene) {
		s.api.put("pods", pod("a", "p", "vllm", "fd00::a", true))
		s.after(time.Second, "found", "http://[fd00::a]:8000")
	})
}

// TestNamespaces: a group may have several namespaces.
func TestNamespaces(t *testing.T) {
	play(t, pods("a", "b"), func(s *scene) {
		s.api.put("pods", pod("a", "p", "vllm", "10.0.0.1", true))
		s.api.put("pods", pod("b", "p", "vllm", "10.0.0.2", true))
		s.api.put("pods", pod("c", "p", "vllm", "10.0.0.3", true))
		s.after(time.Second, "pods of two namespaces", "http://10.0.0.1:8000", "http://10.0.0.2:8000")
	})
}

// TestJoin: the targets of an InferencePool are its ready pods. An empty selector selects none.
func TestJoin(t *testing.T) {
	pool := func(name string, labels object) object {
		return object{"kind": "InferencePool", "apiVersion": "inference.networking.k8s.io/v1", "metadata": object{"namespace": "own", "name": name}, "spec": object{"selector": object{"matchLabels": labels}, "targetPorts": []any{object{"number": 8200}}}}
	}
	c := Config{
		Resource: "inferencepools.v1.inference.networking.k8s.io", Namespaces: []string{""},
		URL: "http://{.with.status.podIP}:{.spec.targetPorts[0].number}", When: strings.Replace(ready, "{.", "{.with.", 1),
		Labels: map[string]string{"service": "{.metadata.name}"}, With: &Join{Resource: "pods.v1", Selector: "{.spec.selector.matchLabels}"},
	}
	play(t, c, func(s *scene) {
		s.api.put("inferencepools", pool("chat", object{"app": "vllm"}))
		s.api.put("inferencepools", pool("none", object{}))
		s.api.put("pods", pod("own", "p1", "vllm", "10.0.0.1", true))
		s.api.put("pods", pod("own", "p2", "vllm", "10.0.0.2", false))
		s.api.put("pods", pod("own", "p3", "nginx", "10.0.0.3", true))
		s.after(time.Second, "the ready pod of the pool", "http://10.0.0.1:8200")
		want := model.LabelSet{
			"name": "own.chat.p1", "base_url": "http://10.0.0.1:8200", "service": "chat",
			"__meta_kubernetes_kind": "InferencePool", "__meta_kubernetes_name": "chat", "__meta_kubernetes_namespace": "own",
			"__meta_kubernetes_with_kind": "Pod", "__meta_kubernetes_with_name": "p1", "__meta_kubernetes_with_namespace": "own", "__meta_kubernetes_with_label_app": "vllm",
		}
		if diff := cmp.Diff(want, s.targets[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		s.api.put("pods", pod("own", "p2", "vllm", "10.0.0.2", true))
		s.after(time.Second, "both pods", "http://10.0.0.1:8200", "http://10.0.0.2:8200")
		s.api.gone("inferencepools", pool("chat", object{}))
		s.after(time.Second, "the pool is deleted")
	})
}

func TestParseResource(t *testing.T) {
	for text, want := range map[string]string{
		"pods.v1": "/v1/pods", "inferenceservices.v1beta1.serving.kserve.io": "serving.kserve.io/v1beta1/inferenceservices",
		"pods": "", "Pods.v1": "", ".v1": "", "": "", "inferenceservices.serving.kserve.io": "",
	} {
		r, err := ParseResource(text)
		if got := strings.Join([]string{r.Group, r.Version, r.Resource}, "/"); want == "" != (err != nil) || want != "" && got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// FuzzExpression: no template panics or exceeds mostText, whatever the object.
func FuzzExpression(f *testing.F) {
	sample, _ := json.Marshal(pod("a", "b", "c", "10.0.0.1", true))
	for _, text := range []string{
		"status.url", "{.status.podIP}", ready, "{range .spec.containers[*]}{.ports[0].containerPort} {end}", "{..containerPort}", "{.spec.containers[-1:].ports}",
		"{.metadata.labels.app}:{end}", "{range .a}", "{.spec[0]}", `{.metadata.labels['app']}`, "{.x[?(@.y>1)]}",
	} {
		f.Add(text, string(sample))
	}
	f.Fuzz(func(t *testing.T, text, document string) {
		e, err := compile(text)
		var data any
		if err != nil || json.Unmarshal([]byte(document), &data) != nil {
			return
		}
		got, err := e.text(data)
		if err == nil && len(got) > mostText {
			t.Errorf("%d bytes", len(got))
		}
		if l, err := e.labels(data); err == nil && e == nil && len(l) > 0 {
			t.Error("labels of nothing")
		}
	})
}

// TestImages checks the images that targets have: those of a pod, of a workload, or of neither.
func TestImages(t *testing.T) {
	containers := map[string]any{"containers": []any{map[string]any{"image": "vllm:2"}, map[string]any{"image": "proxy:1"}}}
	for _, tt := range []struct {
		spec map[string]any
		want string
	}{
		{containers, "vllm:2 proxy:1"},
		{map[string]any{"template": map[string]any{"spec": containers}}, "vllm:2 proxy:1"},
		{map[string]any{"containers": "odd"}, ""},
	} {
		found, err := Config{URL: "http://a"}.Find([]*unstructured.Unstructured{{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "spec": tt.spec}}}, nil)
		if err != nil || len(found) != 1 || string(found[0]["__meta_kubernetes_images"]) != tt.want {
			t.Errorf("%v (%v), want the images %q", found, err, tt.want)
		}
	}
}
