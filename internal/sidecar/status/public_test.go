package status

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/review"
	"synthetic/internal/sidecar/sink"
)

// private marks texts that the public view must not show.
const private = "private-text"

// fillPrivate fills every text of a value, except the fields with the given names.
func fillPrivate(v reflect.Value, except ...string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(private)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(except, f.Name) {
				fillPrivate(v.Field(i), except...)
			}
		}
	}
}

func publicOf(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

// TestPublicViewHasNoPrivateText: no text of a turn, an alert, an incident, a mark, a label or a discovered target's name
// gets into the public view.
func TestPublicViewHasNoPrivateText(t *testing.T) {
	p := pageAt(noon)
	p.options.Alerts = func() (Alerts, bool) {
		return Alerts{Stalled: private, Receivers: []AlertReceiver{{URL: private, Err: private}}, Rules: []AlertRule{{Name: private, Expr: private, Err: private}}}, true
	}
	for _, target := range []string{"chat", "llama/" + private, "pods/" + private + ":8000", private} {
		for _, ago := range []time.Duration{time.Minute, time.Hour} {
			r := turn(ago, failing(probe.HTTP5xx, private))
			fillPrivate(reflect.ValueOf(&r).Elem(), "Target", "Outcome", "Kind")
			r.Target, r.Workload = target, private
			j := jobOf(target, private)
			fillPrivate(reflect.ValueOf(&j).Elem(), "Workload", "Target")
			fillPrivate(reflect.ValueOf(&j.Target).Elem(), "Name")
			p.Add(j)
			feed(p, r)
		}
		p.Alert(told(private, "page", time.Minute, 0, func(c *AlertChange) {
			c.Labels["target"], c.Labels["workload"], c.Labels["region"], c.Labels["slo"] = target, private, private, private
			c.Annotations = map[string]string{"summary": private, "description": private, "dashboard_url": "https://" + private}
		}))
	}
	p.options.Marks.Add(sink.Mark{At: noon, Source: sink.MarkDeploy, Text: private})
	h := p.PublicHandler(PublicOptions{
		Targets: func() []string { return []string{"llama", "pods", "chat", "<idle>"} },
		Days: func(string) []review.Day {
			return []review.Day{
				{Date: "2026-03-01", Target: "chat", Workload: private, Turns: 4, Failed: 1, Objectives: []review.Objective{{Name: private}}},
				{Date: "2026-02-28", Target: "llama/" + private, Workload: private, Turns: 2},
				{Date: "2026-03-01", Target: private, Workload: private, Turns: 2},
			}
		},
	})
	for path, wants := range map[string][]string{
		"/": {
			"<h2>chat <span class=\"state bad\">down</span>", "75 % of the requests", "<h2>llama <span", "100 % of the requests", "<h2>pods <span class=\"state bad\">down",
			"&lt;idle&gt; <span class=\"state unknown\">no data", "2026-03-01: 75 %", "2025-12-02: n/a",
		},
		"/badge.svg":                   {"status: down"},
		"/badge.svg?target=chat":       {">chat</text>", ">down</text>"},
		"/badge.svg?target=%3Cidle%3E": {"&lt;idle&gt;: no data"},
	} {
		w := publicOf(t, h, path)
		for _, want := range wants {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s answers %d without %q: %s", path, w.Code, want, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), private) {
			t.Errorf("%s shows a private text: %s", path, w.Body)
		}
	}
	for _, path := range []string{"/badge.svg?target=" + private, "/badge.svg?target=pods/" + private + ":8000", "/turns", "/alerts", "/api/status", "/incidents/x", "/metrics", "/-/reload"} {
		if w := publicOf(t, h, path); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), private) {
			t.Errorf("%s answers %d: %s", path, w.Code, w.Body)
		}
	}
}

// TestPublicState: a target is up, degraded or down by its turns of the last 15 minutes and its pages, and the view is made
// anew after some seconds.
func TestPublicState(t *testing.T) {
	now := noon
	p := New(Options{Now: func() time.Time { return now }})
	h := p.PublicHandler(PublicOptions{Targets: func() []string { return []string{"t"} }, Days: func(string) []review.Day { return nil }})
	want := func(state string) {
		t.Helper()
		now = now.Add(publicFor)
		if body := publicOf(t, h, "/badge.svg?target=t").Body.String(); !strings.Contains(body, "t: "+state+"<") {
			t.Errorf("want %s: %s", state, body)
		}
	}
	want("no data")
	for range 19 {
		feed(p, turn(time.Minute))
	}
	if body := publicOf(t, h, "/badge.svg").Body.String(); !strings.Contains(body, "no data") {
		t.Errorf("the view is made for each request: %s", body)
	}
	want("up")
	feed(p, turn(time.Minute, failing(probe.HTTP5xx, "x")))
	want("up")
	feed(p, turn(time.Minute, failing(probe.HTTP5xx, "x")), turn(time.Minute, failing(probe.HTTP5xx, "x")))
	want("degraded")
	p.Alert(told("SyntheticTargetDown", "page", time.Minute, 0))
	want("down")
	p.Alert(told("SyntheticTargetDown", "page", time.Minute, 30*time.Second))
	want("degraded")
}
