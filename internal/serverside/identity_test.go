package serverside

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe/target"
)

// pageOf is the page of a server, with the families that identify it and some that do not.
const pageOf = `# HELP python_info Python platform information
# TYPE python_info gauge
python_info{implementation="CPython",major="3",minor="12",patchlevel="%[1]d",version="3.12.%[1]d"} 1.0
# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds %[3]f
# TYPE %[4]s gauge
%[4]s{model_name="m",version="%[2]s"} 1.0
vllm:generation_tokens_total{engine="0"} 100
`

// TestIdentity reads pages as they are before and after a rollout: a lasting change of the version is reported, and a
// process that started since the first reading. An older process behind a load balancer is not.
func TestIdentity(t *testing.T) {
	for _, family := range []string{"vllm:build_info", "sglang:engine_info", "dynamo_build_info"} {
		t.Run(family, func(t *testing.T) {
			var page atomic.Value
			page.Store("")
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, page.Load().(string)) }))
			defer server.Close()
			c, err := NewClient(target.Target{BaseURL: server.URL + "/v1"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var i identity
			var got []Change
			began := time.Now().Truncate(time.Second)
			at := began // of the next reading
			read := func(times int, version string, started time.Time) {
				t.Helper()
				page.Store(fmt.Sprintf(pageOf, times, version, float64(started.Unix()), family))
				s, err := c.Scrape(t.Context(), server.URL)
				if err != nil || s.version != version {
					t.Fatalf("version %q of %v: %v", s.version, s.Families, err)
				}
				for range times {
					at = at.Add(time.Second)
					s.At = at
					got = append(got, i.changes(s)...)
				}
			}
			read(steadyFor, "0.32.0", began.Add(-time.Hour))
			read(1, "0.32.0", began.Add(-time.Minute))
			read(lasting, "0.33.1", began.Add(time.Minute))
			read(1, "0.33.1", began.Add(-time.Hour))
			read(1, "0.33.1", began.Add(24*time.Hour)) // by a clock that is ahead
			if len(got) != 2 {
				t.Fatalf("the changes are %+v, want a start and a version", got)
			}
			got[1].At = time.Time{}
			if diff := cmp.Diff([]Change{{At: began.Add(time.Minute)}, {From: "0.32.0", To: "0.33.1"}}, got); diff != "" {
				t.Errorf("the changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVersions: a page may name several versions, and has a bounded text for them.
func TestVersions(t *testing.T) {
	for page, want := range map[string]string{
		`a_build_info{version="2"} 1` + "\n" + `b_build_info{version="1"} 1` + "\n" + `b_build_info{image="1"} 1`: "1, 2",
		`a_build_info{revision="2"} 1`:                                        "",
		`a_build_info{version="2"} x` + "\n" + `b_build_info{version="1"} 1`:  "1",
		strings.Repeat(`a_build_info{revision="2"} 1`+"\n", maxSeries+1):      "",
		strings.Repeat(`a_build_info{revision="2"} 1`+"\n", maxKept/25):       "",
		`go_info{version="go1.26"} 1`:                                         "",
		`a_build_info{version="` + strings.Repeat("x", 2*maxVersion) + `"} 1`: strings.Repeat("x", maxVersion),
	} {
		found, err := readExcerpt(t.Context(), strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		if s, err := newSample(t.Context(), found); err != nil || s.version != want {
			t.Errorf("%s: version %q (%v), want %q", page, s.version, err, want)
		}
	}
}

// TestWatcherTellsChanges: a watcher reports a process that started between two readings.
func TestWatcherTellsChanges(t *testing.T) {
	var readings atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		started := time.Now().Add(-time.Hour)
		if readings.Add(1) > 1 {
			started = time.Now()
		}
		fmt.Fprintf(w, "process_start_time_seconds %f\n", float64(started.UnixMicro())/1e6)
	}))
	defer server.Close()
	told := make(chan string, 1)
	w := NewWatcher(WatcherOptions{
		Interval: time.Millisecond, Logger: slog.New(slog.DiscardHandler), Report: func(string, Reading) {},
		Changed: func(target string, c Change) {
			select {
			case told <- fmt.Sprint(target, c.From, c.To):
			default: // the first one is enough
			}
		},
	})
	commit, err := w.Prepare([]Watched{{Target: target.Target{Name: "a", BaseURL: server.URL + "/v1"}, URLs: []string{server.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	commit()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	if got := <-told; got != "a" {
		t.Errorf("a change %q, want a start of a", got)
	}
	cancel()
	<-ended
}
