package discovery

import (
	"context"
	"fmt"
	"log/slog"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/file"
	"github.com/prometheus/prometheus/discovery/http"
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
	c.URL, c.RefreshInterval = i.URL, model.Duration(20*time.Millisecond)
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

func namesOf(f *Follower, groups []Group) (out []string) {
	for _, g := range groups {
		for _, t := range f.Found(groups)[g.Name()] {
			out = append(out, g.Name()+"/"+t.Name)
		}
	}
	return out
}

func wantTargets(t *testing.T, f *Follower, groups []Group, want ...string) {
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
	groups := []Group{remote, local}
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
	groups := []Group{g}
	f := New(slog.New(slog.DiscardHandler), nil)
	f.Recall(map[string][]Target{"remote": {{Name: "a", BaseURL: "http://a:1"}, {Name: "b", BaseURL: "http://b:1"}}, "other": nil})
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
