package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/file"
	"github.com/prometheus/prometheus/discovery/http"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"synthetic/internal/fleet"
)

// inventory is a server for http_sd_configs.
type inventory struct {
	*httptest.Server
	mu     sync.Mutex
	answer string // "" for an error
	asked  chan struct{}
}

func newInventory(t *testing.T) *inventory {
	i := &inventory{asked: make(chan struct{})}
	i.Server = httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		i.mu.Lock()
		answer := i.answer
		i.mu.Unlock()
		if answer == "" {
			nethttp.Error(w, "no inventory", nethttp.StatusInternalServerError)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
		select {
		case i.asked <- struct{}{}:
		case <-r.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}))
	t.Cleanup(i.Close)
	return i
}

// set sets the answer and waits until it was given twice.
func (i *inventory) set(answer string) {
	i.mu.Lock()
	i.answer = answer
	i.mu.Unlock()
	for range 3 {
		<-i.asked
	}
}

func (i *inventory) config() *http.SDConfig {
	c := http.DefaultSDConfig
	c.URL, c.RefreshInterval = i.URL, model.Duration(200*time.Millisecond) // it is the timeout of a request, too
	return &c
}

// begin runs a follower. Each change of its targets is sent to changes.
func begin(t *testing.T, f *Follower) (changes chan struct{}) {
	changes = make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Run(ctx, func() error { changes <- struct{}{}; return nil }); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return changes
}

func namesOf(f *Follower, groups []fleet.Group) (out []string) {
	for _, g := range groups {
		for _, t := range f.Found(groups)[g.Name()] {
			out = append(out, g.Name()+"/"+t.Name)
		}
	}
	return out
}

func wantTargets(t *testing.T, f *Follower, groups []fleet.Group, want ...string) {
	t.Helper()
	if got := namesOf(f, groups); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestFollower follows a server and files: their targets, a failing server, an answer with too few targets, and a
// changed file.
func TestFollower(t *testing.T) {
	server, dir := newInventory(t), t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "new"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "targets.json")); err != nil {
			t.Fatal(err)
		}
	}
	write(`[{"targets": ["http://c:1"]}]`)
	server.answer = `[{"targets": ["http://a:1", "http://b:1"], "labels": {"team": "x"}}]`
	remote, local := group("remote", server.config()), group("local", &file.SDConfig{Files: []string{filepath.Join(dir, "*.json")}, RefreshInterval: model.Duration(time.Hour)})
	remote.Least = 1
	groups := []fleet.Group{remote, local}
	f := New(slog.New(slog.DiscardHandler), nil)
	f.Follow(groups)
	if !f.Awaits("remote/a") || f.Awaits("other/a") {
		t.Error("awaits the wrong targets")
	}
	changes := begin(t, f)
	for len(namesOf(f, groups)) < 3 {
		<-changes
	}
	wantTargets(t, f, groups, "remote/a-1", "remote/b-1", "local/c-1")
	if st := f.Standings()[1]; st.Name != "remote" || st.Failing != "" || st.Found != 2 || st.At.IsZero() || f.Awaits("remote/a") {
		t.Errorf("%+v", st)
	}

	server.set("")
	if st := f.Standings()[1]; !strings.Contains(st.Failing, "fails") || st.Since.IsZero() {
		t.Errorf("the server fails: %+v", st)
	}
	write(`[{"targets": ["http://c:1", "http://d:1"]}]`)
	for len(namesOf(f, groups)) < 4 {
		<-changes
	}
	wantTargets(t, f, groups, "remote/a-1", "remote/b-1", "local/c-1", "local/d-1")

	groups[0].Most = 1
	f.Follow(groups)
	wantTargets(t, f, groups, "remote/a-1", "local/c-1", "local/d-1")
	f.Follow(groups[1:])
	wantTargets(t, f, groups[1:], "local/c-1", "local/d-1")
}

// TestRecall: saved targets are probed while the source fails, if the group still allows them.
func TestRecall(t *testing.T) {
	server := newInventory(t)
	g := group("remote", server.config())
	g.AllowedHosts = []string{"a", "c"}
	groups := []fleet.Group{g}
	f := New(slog.New(slog.DiscardHandler), nil)
	f.Recall(map[string][]fleet.Discovered{"remote": {{Name: "a", BaseURL: "http://a:1"}, {Name: "b", BaseURL: "http://b:1"}}, "other": nil})
	f.Follow(groups)
	changes := begin(t, f)
	server.set("")
	wantTargets(t, f, groups, "remote/a")
	if got := f.Remember(); len(got["remote"]) != 1 {
		t.Errorf("remembers %v", got)
	}
	server.set(`[{"targets": ["http://c:1"]}]`)
	for slices.Contains(namesOf(f, groups), "remote/a") {
		<-changes
	}
	wantTargets(t, f, groups, "remote/c-1")
}

// TestNewSourceOfAGroup: the targets of the earlier source stay until the new one answers, and an answer of the
// earlier one that comes late is none.
func TestNewSourceOfAGroup(t *testing.T) {
	old, replacement := newInventory(t), newInventory(t)
	old.answer = `[{"targets": ["http://a:1"]}]`
	groups := []fleet.Group{group("g", old.config())}
	f := New(slog.New(slog.DiscardHandler), nil)
	f.Follow(groups)
	changes := begin(t, f)
	<-changes
	wantTargets(t, f, groups, "g/a-1")
	f.mu.Lock()
	f.groups["g"].created = time.Now().Add(-time.Hour)
	f.mu.Unlock()

	groups = []fleet.Group{group("g", replacement.config())}
	wantTargets(t, f, groups, "g/a-1")
	f.Follow(groups)
	f.update(time.Now())
	replacement.set("")
	f.mu.Lock()
	f.synced = map[string][]*targetgroup.Group{f.groups["g"].sets[0]: {}} // as the manager sends it at once
	f.mu.Unlock()
	f.update(time.Now())
	wantTargets(t, f, groups, "g/a-1")
	if !f.Awaits("g/b-1") {
		t.Error("the new source has not answered")
	}
	replacement.set(`[{"targets": ["http://b:1"]}]`)
	for slices.Contains(namesOf(f, groups), "g/a-1") {
		<-changes
	}
	wantTargets(t, f, groups, "g/b-1")
}

// TestRecallOfTwoSources: saved targets stay until both sources have answered. Two groups with the same failing
// source both fail.
func TestRecallOfTwoSources(t *testing.T) {
	good, bad := newInventory(t), newInventory(t)
	good.answer = `[{"targets": ["http://a:1"]}]`
	groups := []fleet.Group{group("g", good.config(), bad.config()), group("other", bad.config())}
	f := New(slog.New(slog.DiscardHandler), nil)
	f.Recall(map[string][]fleet.Discovered{"g": {{Name: "a-1", BaseURL: "http://a:1", Model: "saved"}, {Name: "b-1", BaseURL: "http://b:1", Model: "saved"}}})
	f.Follow(groups)
	changes := begin(t, f)
	for f.heard("g") < 1 {
		<-changes
	}
	bad.set("")
	f.update(time.Now().Add(2 * silence))
	wantTargets(t, f, groups, "g/a-1", "g/b-1")
	for _, s := range f.Standings() {
		if s.Failing != "the discovery fails; the log names the reason" || !s.At.IsZero() {
			t.Errorf("%+v", s)
		}
	}
	bad.set(`[{"targets": ["http://c:1"]}]`)
	for f.Awaits("g/x") || f.Awaits("other/x") {
		<-changes
	}
	wantTargets(t, f, groups, "g/a-1", "g/c-1", "other/c-1")
}

func (f *Follower) heard(group string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(slices.DeleteFunc(slices.Collect(maps.Values(f.groups[group].heard)), func(yes bool) bool { return !yes }))
}

// TestLongRefreshInterval: a discovery that is asked each hour fails for longer than an hour.
func TestLongRefreshInterval(t *testing.T) {
	c := http.DefaultSDConfig
	c.RefreshInterval = model.Duration(time.Hour)
	now := time.Now()
	g := &groupState{Group: group("g", &file.SDConfig{}, &c), failed: now}
	if !g.isFailing(now.Add(80*time.Minute)) || g.isFailing(now.Add(91*time.Minute)) {
		t.Error("it does not fail for one and a half refresh intervals")
	}
	g.Sources = g.Sources[:1]
	if !g.isFailing(now.Add(5*time.Minute)) || g.isFailing(now.Add(7*time.Minute)) {
		t.Error("it does not fail for 6 minutes")
	}
}

// TestFailureOfAMechanism: the counter of files has no group, and the text says so. A group that is new since
// then has not failed.
func TestFailureOfAMechanism(t *testing.T) {
	f := New(slog.New(slog.DiscardHandler), nil)
	failures := prometheus.NewCounter(prometheus.CounterOpts{Name: failureCounters()["file"]})
	f.registry.MustRegister(failures)
	first, second := group("first", &file.SDConfig{Files: []string{"a.json"}}), group("second", &file.SDConfig{Files: []string{"b.json"}})
	f.Follow([]fleet.Group{first})
	failures.Inc()
	if got := f.Standings()[0].Failing; !strings.Contains(got, "of the kind file fails, perhaps that of another group") {
		t.Errorf("%q", got)
	}
	f.Follow([]fleet.Group{first, second})
	if got := f.Standings()[1].Failing; got != "" {
		t.Errorf("the new group: %q", got)
	}
}

// TestSuccessIsTheLastSync: a group without a failure reports when the manager last sent its targets.
func TestSuccessIsTheLastSync(t *testing.T) {
	f := New(slog.New(slog.DiscardHandler), nil)
	f.Follow([]fleet.Group{group("g", &file.SDConfig{Files: []string{"a.json"}})})
	f.syncedAt = time.Now().Add(-time.Hour)
	f.synced = map[string][]*targetgroup.Group{f.groups["g"].sets[0]: {{Targets: []model.LabelSet{{model.AddressLabel: "http://a:1"}}}}}
	f.update(time.Now())
	if got := f.Standings()[0]; got.Failing != "" || !got.At.Equal(f.syncedAt) {
		t.Errorf("%+v, want the time %v", got, f.syncedAt)
	}
}
