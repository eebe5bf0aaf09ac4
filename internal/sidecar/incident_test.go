package sidecar_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
)

// read returns what the sidecar serves at a path.
func read(s *sidecar.Sidecar, method, path string) (code int, body string) {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1"+path, nil))
	return w.Code, w.Body.String()
}

// TestIncidentNamesCauseAndStart: three minutes after the TTFT tripled, the page of the incident shows
// the signal, the start and the likely part. A restart continues the incident, and another one after its end keeps it.
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
		path := wantIncident(t, prober, fault)
		s.kill(stop)
		prober, stop = s.begin()
		time.Sleep(time.Minute)
		if again := wantIncident(t, prober, fault); again != path {
			t.Errorf("after a restart the incident is %s, was %s", again, path)
		}
		s.target.Update(func(o *simulate.Options) { *o = healthyOptions() })
		time.Sleep(20 * time.Minute)
		s.kill(stop)
		prober, stop = s.begin()
		if _, list := read(prober, http.MethodGet, "/alerts"); strings.Count(list, path) != 1 || strings.Count(list, `href="incidents/`) != 1 {
			t.Errorf("after its end the incidents are not %s alone: %s", path, list)
		}
		for _, want := range []string{"<h1>TTFT of chat up to ", "lasted ", "worst turns", "SyntheticRegression fires"} {
			if _, page := read(prober, http.MethodGet, "/"+path); !strings.Contains(page, want) {
				t.Errorf("after its end its page has no %q: %s", want, page)
			}
		}
		stop()
	})
}

// wantIncident checks that the page and the metric of the only incident name the slow signal and the
// start of the fault. It returns the path of the page.
func wantIncident(t *testing.T, prober *sidecar.Sidecar, fault time.Time) (path string) {
	t.Helper()
	_, list := read(prober, http.MethodGet, "/alerts")
	paths := regexp.MustCompile(`incidents/[^"]+`).FindAllString(list, -1)
	if len(paths) != 1 {
		t.Fatalf("there are the incidents %q, want one", paths)
	}
	path = paths[0]
	code, page := read(prober, http.MethodGet, "/"+path)
	heading := regexp.MustCompile(`<h1>TTFT of chat up to [1-3]\.\d × usual \(.* against 2\d\d ms\) since (\d\d:\d\d) \(\d+ (?:s|min) ago\), likely queue or prefill</h1>`).FindStringSubmatch(page)
	if heading == nil {
		t.Errorf("/%s answers %d and does not name the slow signal: %.3000s", path, code, regexp.MustCompile(`<h1>.*</h1>`).FindString(page))
		return path
	}
	_, series := read(prober, http.MethodGet, "/metrics")
	if info := regexp.MustCompile(`synthetic_incident_info{.*likely_part="queue or prefill",path="/` + path + `",runbook="/runbooks/SyntheticRegression",.*target="chat",workload="chat"} 1\n`); !info.MatchString(series) {
		t.Errorf("/metrics has no series of the incident: %s", regexp.MustCompile(`synthetic_incident.*`).FindAllString(series, -1))
	}
	if first, last := fault.UTC().Add(-time.Minute).Format("15:04"), fault.UTC().Add(2*time.Minute).Format("15:04"); heading[1] < first || heading[1] > last {
		t.Errorf("it began at %s, want between %s and %s", heading[1], first, last)
	}
	return path
}
