package serverside

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
)

// engineServer serves a page with a counter that grows by 10 at each reading.
type engineServer struct {
	*httptest.Server
	readings atomic.Int64
	broken   atomic.Bool
	header   atomic.Value // http.Header of the last reading
}

func newEngineServer(t *testing.T) *engineServer {
	t.Helper()
	t.Setenv("SERVERSIDE_TEST_KEY", "hunter2")
	e := &engineServer{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.header.Store(r.Header.Clone())
		if e.broken.Load() {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		n := e.readings.Add(1)
		fmt.Fprintf(w, "vllm:num_preemptions_total %d\n", 1000+10*n)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *engineServer) watched(name string) Watched {
	return Watched{
		Target: target.Target{Name: name, BaseURL: e.URL + "/v1", Key: target.Credential{Env: "SERVERSIDE_TEST_KEY"}},
		URLs:   []string{e.URL + "/metrics"},
	}
}

// logs is a log for tests.
type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// told is one reading of one deployment.
type told struct {
	target string
	Reading
}

// watching is a running Watcher.
type watching struct {
	*Watcher
	t    *testing.T
	told chan told
	logs *logs
	end  func()
}

func watchThem(t *testing.T, set ...Watched) *watching {
	t.Helper()
	w := &watching{t: t, told: make(chan told), logs: &logs{}}
	ctx, cancel := context.WithCancel(t.Context())
	w.Watcher = NewWatcher(WatcherOptions{
		Interval: 5 * time.Millisecond,
		Report: func(name string, r Reading) {
			select {
			case w.told <- told{name, r}:
			case <-ctx.Done():
			}
		},
		Logger: slog.New(slog.NewTextHandler(w.logs, nil)),
	})
	w.apply(set...)
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	w.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.end)
	return w
}

func (w *watching) apply(set ...Watched) {
	w.t.Helper()
	commit, err := w.Prepare(set)
	if err != nil {
		w.t.Fatal(err)
	}
	commit()
}

// next waits for a reading that satisfies ok.
func (w *watching) next(what string, ok func(told) bool) told {
	w.t.Helper()
	for timeout := time.After(30 * time.Second); ; {
		select {
		case r := <-w.told:
			if ok(r) {
				return r
			}
		case <-timeout:
			w.t.Fatalf("no reading %s; log:\n%s", what, w.logs)
		}
	}
}

func TestWatcherReads(t *testing.T) {
	e := newEngineServer(t)
	w := watchThem(t, e.watched("a"))
	first := w.next("at all", func(told) bool { return true })
	if want := (told{"a", Reading{Complete: true, Requests: 1, State: State{Preemptions: probe.Some(0.0)}}}); first != want {
		t.Errorf("the first reading is %+v, want %+v; earlier counts must not be included", first, want)
	}
	second := w.next("after it", func(told) bool { return true })
	if want := (told{"a", Reading{Complete: true, Requests: 1, State: State{Preemptions: probe.Some(10.0)}}}); second != want {
		t.Errorf("the second reading is %+v, want %+v", second, want)
	}

	e.broken.Store(true)
	lost := w.next("that fails", func(r told) bool { return !r.Complete })
	if lost.Preemptions.OK {
		t.Errorf("the failed reading is %+v", lost)
	}
	w.next("that fails again", func(r told) bool { return !r.Complete })
	e.broken.Store(false)
	back := w.next("that works again", func(r told) bool { return r.Complete })
	if back.Preemptions.V != 10 {
		t.Errorf("after the gap the reading is %+v, want the counts since the last successful one", back)
	}
	if lost.Requests != 1 {
		t.Errorf("a request that the server refused counts %d times", lost.Requests)
	}
	e.Close()
	if r := w.next("without a server", func(r told) bool { return !r.Complete }); r.Requests != 0 {
		t.Errorf("a request that was not sent counts %d times", r.Requests)
	}
	w.end()
	text := w.logs.String()
	if n := strings.Count(text, "Cannot read the server"); n != 2 || strings.Count(text, "Reading the server") != 2 {
		t.Errorf("the log says %d times that reading fails:\n%s", n, text)
	}
	if !strings.Contains(text, e.URL) || !strings.Contains(text, "503") || strings.Contains(text, "hunter") {
		t.Errorf("the log should contain the page and the error, and no key:\n%s", text)
	}
	if got := e.header.Load().(http.Header).Get("Authorization"); got != "Bearer hunter2" {
		t.Errorf("the target's own host was asked with %q", got)
	}
}

// TestWatcherFollowsReloads checks that a removed deployment is no longer read, that an unchanged
// one keeps its previous sample, and that a new one is read.
func TestWatcherFollowsReloads(t *testing.T) {
	a, b := newEngineServer(t), newEngineServer(t)
	w := watchThem(t, a.watched("a"))
	w.next("of a that counts", func(r told) bool { return r.target == "a" && r.Preemptions.V > 0 })
	w.apply(a.watched("a"), b.watched("b"))
	w.next("of b", func(r told) bool {
		if r.target == "a" && r.Preemptions.V != 10 {
			t.Errorf("a reload let a begin anew: %+v", r)
		}
		return r.target == "b"
	})
	changed := b.watched("b")
	changed.URLs = append(changed.URLs, a.URL+"/other")
	w.apply(changed)
	w.next("of b that begins anew", func(r told) bool { return r.target == "b" && r.Preemptions.OK && r.Preemptions.V == 0 })
	both := w.next("of both pages", func(r told) bool { return r.target == "b" && r.Preemptions.V > 10 })
	if both.Preemptions.V != 20 {
		t.Errorf("two pages say %+v, want the sum", both)
	}
	w.apply()
	w.apply(b.watched("c"))
	w.next("of c", func(r told) bool { return r.target == "c" })
	w.next("of c alone", func(r told) bool {
		if r.target != "c" {
			t.Errorf("%s was read after it was taken out", r.target)
		}
		return r.Preemptions.V > 0
	})
}

// TestPrepareRefuses checks that an invalid set is rejected, that the error names the deployment,
// and that nothing changes.
func TestPrepareRefuses(t *testing.T) {
	bad := Watched{Target: target.Target{Name: "a", BaseURL: "https://a/v1", HTTP: promconfig.HTTPClientConfig{TLSConfig: promconfig.TLSConfig{CAFile: "/nonexistent"}}}}
	_, err := NewWatcher(WatcherOptions{}).Prepare([]Watched{bad})
	if err == nil || !strings.Contains(err.Error(), `target "a"`) || !strings.Contains(err.Error(), "/nonexistent") {
		t.Errorf("error %v, want one that names the target and the file", err)
	}
}

// TestKeyIsNotSentInTheClear checks that the key is not sent without TLS if the target uses TLS.
func TestKeyIsNotSentInTheClear(t *testing.T) {
	e := newEngineServer(t)
	o := e.watched("a")
	c, err := NewClient(target.Target{BaseURL: strings.Replace(e.URL, "http:", "https:", 1) + "/v1", Key: o.Target.Key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Scrape(t.Context(), e.URL+"/metrics"); err != nil {
		t.Fatal(err)
	}
	if got := e.header.Load().(http.Header).Get("Authorization"); got != "" {
		t.Errorf("a page without TLS was asked with %q", got)
	}
}
