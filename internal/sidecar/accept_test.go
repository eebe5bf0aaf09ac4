package sidecar_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/watch"
	"synthetic/tools/testkit/stage"
)

// TestAccept accepts levels as baselines, with correct and wrong requests.
func TestAccept(t *testing.T) {
	cfg, err := config.Parse("synthetic.yml", []byte(`
targets: [{name: east, base_url: "http://east"}, {name: west, base_url: "http://west"}]
workloads: [{name: chat}, {name: long}]
`), ".")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		closed bool
		query  url.Values
		code   int
		want   string // of the answer
		logs   int
	}{
		"all of a target":  {false, url.Values{"target": {"west"}}, 200, `west \(workload chat\): the level since \S+Z is the new baseline; compared with the old one: there was none\nwest \(workload long\)`, 2},
		"since a time":     {false, url.Values{"target": {"west"}, "workload": {"long"}, "since": {"2026-01-02T03:04:05+01:00"}}, 200, `^west \(workload long\): the level since 2026-01-02T02:04:05Z is`, 1},
		"unknown target":   {false, url.Values{"target": {"north"}}, 404, `there is no target "north": name one of east, west`, 0},
		"unknown workload": {false, url.Values{"target": {"west"}, "workload": {"x"}}, 404, `has a workload "x"`, 0},
		"no target":        {false, nil, 404, `one of east, west`, 0},
		"no time":          {false, url.Values{"target": {"west"}, "since": {"noon"}}, 400, `"noon" is neither a time nor a duration: write for example`, 0},
		"future":           {false, url.Values{"target": {"west"}, "since": {"2999-01-01T00:00:00Z"}}, 400, `not in the past`, 0},
		"not enabled":      {true, url.Values{"target": {"west"}}, 403, `start synthetic run with --web.enable-lifecycle`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s, err := sidecar.New(sidecar.Options{Web: sidecar.Web{Lifecycle: !tt.closed}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Apply(cfg); err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1/-/accept?"+tt.query.Encode(), nil))
			if w.Code != tt.code || !regexp.MustCompile(tt.want).MatchString(w.Body.String()) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if n := strings.Count(log.String(), "A level was accepted"); n != tt.logs {
				t.Errorf("%d lines in the log:\n%s", n, log.String())
			}
		})
	}
}

// TestAcceptSinceAgo: since may be a duration ago. An accepted level is saved at once.
func TestAcceptSinceAgo(t *testing.T) {
	state := filepath.Join(t.TempDir(), "baselines.json")
	s, err := sidecar.New(sidecar.Options{Web: sidecar.Web{Lifecycle: true}, StateFile: state})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cfg, err := config.Parse("synthetic.yml", []byte(`targets: [{name: east, base_url: "http://east"}]`), ".")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	defer stage.Run(t, s)()
	for text, ago := range map[string]time.Duration{"2h": 2 * time.Hour, "1d": 24 * time.Hour, "": 30 * time.Minute} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1/-/accept?target=east&since="+text, nil))
		since := regexp.MustCompile(` since (\S+) is `).FindStringSubmatch(w.Body.String())
		if since == nil {
			t.Fatalf("%q: %d %s", text, w.Code, w.Body)
		}
		at, err := time.Parse(time.RFC3339, since[1])
		if off := time.Since(at) - ago; err != nil || off < 0 || off > time.Hour {
			t.Errorf("%q: since %s", text, since[1])
		}
	}
	if f, err := watch.ReadFile(state); err != nil || len(f.Jobs) != 1 { // before the end
		t.Errorf("%d jobs are saved, error %v", len(f.Jobs), err)
	}
}
