package sidecar_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
)

// read returns what the sidecar serves at a path.
func read(s *sidecar.Sidecar, method, path string) (code int, body string) {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1"+path, nil))
	return w.Code, w.Body.String()
}

// TestIncidentNamesCauseAndStart: three minutes after the TTFT tripled, the page of the incident shows
// the signal, the start and the likely part, also after a restart.
func TestIncidentNamesCauseAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := newSite(t, lastingPager)
		defer end()
		s.saveBaseline()
		prober, stop := s.begin()
		time.Sleep(5 * time.Minute)
		fault := time.Now()
		s.target.Update(slower(3))
		time.Sleep(3 * time.Minute)
		wantIncident(t, prober, fault)
		s.kill(stop)
		prober, stop = s.begin()
		time.Sleep(time.Minute)
		wantIncident(t, prober, fault)
		stop()
	})
}

// wantIncident checks that the page of the only incident names the slow signal and the start of the
// fault.
func wantIncident(t *testing.T, prober *sidecar.Sidecar, fault time.Time) {
	t.Helper()
	_, list := read(prober, http.MethodGet, "/alerts")
	path := regexp.MustCompile(`incidents/[^"]+`).FindString(list)
	code, page := read(prober, http.MethodGet, "/"+path)
	heading := regexp.MustCompile(`<h1>TTFT of chat up to [1-3]\.\d × usual \(.* against 2\d\d ms\) since (\d\d:\d\d) UTC, likely queue or prefill</h1>`).FindStringSubmatch(page)
	if heading == nil {
		t.Errorf("/%s answers %d and does not name the slow signal: %.3000s", path, code, regexp.MustCompile(`<h1>.*</h1>`).FindString(page))
		return
	}
	if first, last := fault.UTC().Add(-time.Minute).Format("15:04"), fault.UTC().Add(2*time.Minute).Format("15:04"); heading[1] < first || heading[1] > last {
		t.Errorf("it began at %s, want between %s and %s", heading[1], first, last)
	}
}

// TestMark: a release can be marked if the lifecycle is enabled.
func TestMark(t *testing.T) {
	cfg, err := config.Parse("synthetic.yml", []byte(`targets: [{name: east, base_url: "http://east"}]`), ".")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		closed bool
		query  url.Values
		code   int
	}{
		"all":         {false, url.Values{"text": {"release 7"}}, 200},
		"of a target": {false, url.Values{"text": {"release 7"}, "target": {"east"}}, 200},
		"unknown":     {false, url.Values{"text": {"release 7"}, "target": {"west"}}, 404},
		"nothing":     {false, nil, 400},
		"not enabled": {true, url.Values{"text": {"release 7"}}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := sidecar.New(sidecar.Options{Lifecycle: !tt.closed})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Apply(cfg); err != nil {
				t.Fatal(err)
			}
			if code, body := read(s, http.MethodPost, "/-/mark?"+tt.query.Encode()); code != tt.code {
				t.Errorf("%d %s", code, body)
			}
		})
	}
}
