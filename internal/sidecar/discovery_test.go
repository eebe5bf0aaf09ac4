package sidecar_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"synthetic/internal/config"
	"synthetic/internal/fleet"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// scaling is a source whose number of targets the test sets.
type scaling struct{ to chan int }

func (*scaling) Name() string { return "scaling" }
func (*scaling) NewDiscovererMetrics(client.Registerer, prom.RefreshMetricsInstantiator) prom.DiscovererMetrics {
	return &prom.NoopDiscovererMetrics{}
}
func (s *scaling) NewDiscoverer(prom.DiscovererOptions) (prom.Discoverer, error) { return s, nil }

func (s *scaling) Run(ctx context.Context, up chan<- []*targetgroup.Group) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-s.to:
			g := &targetgroup.Group{Source: "all"}
			for i := range n {
				g.Targets = append(g.Targets, model.LabelSet{model.AddressLabel: model.LabelValue(fmt.Sprintf("replica-%02d:8000", i))})
			}
			up <- []*targetgroup.Group{g}
		}
	}
}

// discovering runs a sidecar on a network in memory on which every host answers.
func discovering(t *testing.T, text string, source *scaling, play func(*sidecar.Sidecar)) {
	discoveringWithState(t, "", text, source, play)
}

// discoveringWithState is discovering with a state file.
func discoveringWithState(t *testing.T, state, text string, source *scaling, play func(*sidecar.Sidecar)) {
	cfg, err := config.Parse("synthetic.yml", []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	if source != nil {
		cfg.Groups[0].Sources = []prom.Config{source}
	}
	for i := range cfg.Groups {
		if i > 0 && cfg.Groups[i].Lease == 0 {
			cfg.Groups[i].Sources = []prom.Config{prom.StaticConfig{{Targets: []model.LabelSet{{model.AddressLabel: "y:1"}}}}}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		if source != nil {
			source.to = make(chan int) // of this bubble
		}
		wire := simulate.NewPipes()
		defer simulate.Serve(wire, simulate.New(simulate.Options{Seed: 1, Model: "m"}))()
		s, err := sidecar.New(sidecar.Options{Logger: slog.New(slog.DiscardHandler), DrainTimeout: time.Second, Dial: wire.Dial, StateFile: state})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(cfg); err != nil {
			t.Fatal(err)
		}
		stop := stage.Run(t, s)
		play(s)
		stop()
	})
}

// get requests a page of the sidecar.
func get(s *sidecar.Sidecar, path string) (status int, body string) {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1"+path, nil))
	return w.Code, w.Body.String()
}

// targetsOf lists the targets that have series on a metrics page.
func targetsOf(page string) (out []string) {
	for line := range strings.Lines(page) {
		if _, rest, ok := strings.Cut(line, `target="`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestSavedTargets: a process that starts while its discovery fails probes the targets that an earlier
// process had found. The API key is not saved.
func TestSavedTargets(t *testing.T) {
	t.Setenv("LLM_API_KEY", "hunter2")
	const text = "discovery: [{name: pods, file_sd_configs: [{files: [x.json]}], allowed_hosts: [replica-00, replica-01], target: {model: m, api_key_env: LLM_API_KEY, labels: {team: x}}}]"
	state := filepath.Join(t.TempDir(), "state")
	play := func(answers bool, want ...string) {
		source := &scaling{}
		discoveringWithState(t, state, text, source, func(s *sidecar.Sidecar) {
			if answers {
				source.to <- 3
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			_, page := get(s, "/metrics")
			if got := targetsOf(page); !slices.Equal(got, want) || !strings.Contains(page, `team="x"`) {
				t.Errorf("series of %v, want %v", got, want)
			}
		})
	}
	both := []string{"pods/replica-00-8000", "pods/replica-01-8000"}
	play(true, both...)
	kept, err := os.ReadFile(state + ".targets")
	if err != nil || strings.Contains(string(kept), "hunter2") || strings.Contains(string(kept), "LLM_API_KEY") {
		t.Errorf("saved: %s, %v", kept, err)
	}
	play(false, both...)
	if err := os.WriteFile(state+".targets", []byte("{"), 0o600); err != nil { // damaged
		t.Fatal(err)
	}
	play(true, both...)
}

// TestSavedTargetsOfRemovedGroup: the targets of a removed group are not saved, so that a later group of
// the same name does not recall them.
func TestSavedTargetsOfRemovedGroup(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	kept := func() string {
		text, err := os.ReadFile(state + ".targets")
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	source := &scaling{}
	groups := func(more string) string {
		return "discovery: [{name: pods, file_sd_configs: [{files: [x.json]}], target: {model: m}}" + more + "]"
	}
	discoveringWithState(t, state, groups(", {name: other, file_sd_configs: [{files: [y.json]}], target: {model: m}}"), source, func(*sidecar.Sidecar) {
		source.to <- 2
		time.Sleep(time.Minute)
		synctest.Wait()
	})
	if !strings.Contains(kept(), "replica-01") || !strings.Contains(kept(), "y:1") {
		t.Errorf("saved: %s", kept())
	}
	discoveringWithState(t, state, groups(""), source, func(*sidecar.Sidecar) {}) // which does not answer
	if !strings.Contains(kept(), "replica-01") || strings.Contains(kept(), "y:1") {
		t.Errorf("with one group less, saved: %s", kept())
	}
	discoveringWithState(t, state, "targets: [{name: a, base_url: 'http://a/v1', model: m}]", nil, func(*sidecar.Sidecar) {})
	if !strings.Contains(kept(), "no such file") {
		t.Errorf("without groups, saved: %s", kept())
	}
}

// TestProbe leases targets over HTTP. Each has its own page, /metrics has none of their series, and a
// lease that is not renewed ends.
func TestProbe(t *testing.T) {
	const text = "discovery: [{name: chat, allowed_hosts: [a.ok, b.ok], lease: 2m, target: {model: m}}, {name: closed, lease: 10m}]"
	discovering(t, text, nil, func(s *sidecar.Sidecar) {
		ask := func(module, target string) (int, string) {
			return get(s, "/probe?"+url.Values{"module": {module}, "target": {target}}.Encode())
		}
		for _, bad := range []struct {
			module, target string
			status         int
		}{
			{"chat", "http://evil", 403}, {"closed", "http://a.ok", 403}, {"none", "http://a.ok", 400}, {"chat", "a.ok", 400}, {"chat", "http://me:hunter2@a.ok", 400},
		} {
			if status, body := ask(bad.module, bad.target); status != bad.status || strings.Contains(body, "hunter2") {
				t.Errorf("%s at %s: %d %s", bad.module, bad.target, status, body)
			}
		}
		if status, _ := get(s, "/probe?target=http://a.ok"); status != 400 {
			t.Errorf("without a module: %d", status)
		}
		for range 10 {
			for _, host := range []string{"a.ok", "b.ok"} {
				if status, body := ask("chat", "http://"+host); status != 200 {
					t.Fatal(body)
				}
			}
			time.Sleep(time.Minute)
		}
		_, page := ask("chat", "http://a.ok/v1")
		if got := targetsOf(page); !slices.Equal(got, []string{"chat/a.ok"}) || !strings.Contains(page, "synthetic_turns_total{") || strings.Contains(page, "synthetic_build_info") {
			t.Errorf("a page of %v", got)
		}
		_, rest := get(s, "/metrics")
		if got := targetsOf(rest); got != nil || !strings.Contains(rest, `synthetic_discovered_targets{group="chat"} 2`) || !strings.Contains(rest, "synthetic_slo_objective") {
			t.Errorf("/metrics has series of %v", got)
		}
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if samples := stage.SamplesOf(t, s, func(name string) bool { return name == "synthetic_turns_total" }); len(samples) != 0 {
			t.Errorf("%d series of targets without a lease", len(samples))
		}
	})
}

// TestThePagerIsThereFirst: the pager starts before the first target is discovered, and also in a shard
// without targets.
func TestThePagerIsThereFirst(t *testing.T) {
	for name, text := range map[string]string{
		"nothing found": "discovery: [{name: pods, file_sd_configs: [{files: [none.json]}]}]\n",
		"nothing here":  "targets: [{name: a, base_url: 'http://127.0.0.1:1', model: m, service: x}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.Parse("synthetic.yml", fmt.Appendf(nil, "%salerting: {directory: %s}\nslos: [{sli: availability, objective: 99%%}]\n", text, t.TempDir()), "")
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				s, err := sidecar.New(sidecar.Options{Logger: slog.New(slog.DiscardHandler), Shard: fleet.Shard{Index: i, Count: 2}})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Apply(cfg); err != nil {
					t.Errorf("shard %d: %v", i, err)
				}
				stage.Run(t, s)()
			}
		})
	}
}
