package status

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// someAlerts returns a firing alert, a pending one, and a rule that cannot be evaluated.
func someAlerts() (Alerts, bool) {
	seconds := func(n int) Duration { return Duration{V: time.Duration(n) * time.Second, OK: true} }
	return Alerts{
		Rules: []AlertRule{
			{
				Group: "target", Name: "Down", Expr: `up < 1 # ` + hostile, State: "firing", Severity: "page",
				For: seconds(60), Keep: seconds(0), Evaluated: noon, Labels: map[string]string{"severity": "page"},
				Alerts: []Alert{{
					State: "firing", Value: "0.93", ActiveAt: noon.Add(-3 * time.Minute), FiredAt: noon.Add(-2 * time.Minute),
					Labels: map[string]string{"alertname": "Down", "severity": "page", "target": hostile},
					Annotations: map[string]string{
						"summary": hostile, "description": "nine in ten fail",
						"runbook_url": "https://example.org/Down.md", "dashboard_url": "javascript:alert(1)",
					},
				}},
			},
			{
				Group: "slo", Name: "Slow", State: "pending", Severity: "ticket", For: seconds(900), Keep: seconds(300), Evaluated: noon,
				Labels: map[string]string{"severity": "ticket", "slo": "ttft"},
				Alerts: []Alert{{State: "pending", Value: "1.4", ActiveAt: noon.Add(-time.Minute), Labels: map[string]string{"alertname": "Slow", "target": "t"}}},
			},
			{Group: "slo", Name: "Broken", State: "unknown", Severity: "page", Err: "no such " + hostile},
		},
		Receivers: []AlertReceiver{
			{URL: "http://one:9093", LastOK: noon},
			{URL: "http://two:9093", Undelivered: 2, Err: "connection refused " + hostile},
		},
	}, true
}

func TestAlertsJSON(t *testing.T) {
	w := get(t, full(), "/api/alerts")
	var got struct {
		Rules []struct {
			Name   string
			For    float64 `json:"for_seconds"`
			Alerts []struct{ State, Value string }
		}
		Alertmanagers []struct{ Undelivered int }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	if len(got.Rules) != 3 || got.Rules[0].For != 60 || got.Rules[0].Alerts[0].State != "firing" || got.Alertmanagers[1].Undelivered != 2 {
		t.Errorf("got %+v", got)
	}
}

// TestNoAlerts checks that a process without a pager says so, and does not look healthy.
func TestNoAlerts(t *testing.T) {
	p := pageAt(noon)
	for path, want := range map[string]int{"/alerts": http.StatusOK, "/api/alerts": http.StatusNotFound, "/incidents/any": http.StatusNotFound} {
		w := get(t, p, path)
		if w.Code != want || !strings.Contains(w.Body.String(), "does not evaluate alert rules") {
			t.Errorf("%s answers %d: %s", path, w.Code, w.Body)
		}
	}
}

// TestStalledIsSaid checks that a stalled pager looks different from one without alerts.
func TestStalledIsSaid(t *testing.T) {
	p := New(Options{Now: func() time.Time { return noon }, Alerts: func() (Alerts, bool) { return Alerts{Stalled: "no room"}, true }})
	if body := get(t, p, "/alerts").Body.String(); !strings.Contains(body, "pager has stopped: no room") || strings.Contains(body, "No alert fires") {
		t.Errorf("/alerts says %s", body)
	}
}

// TestIncidentsAreSaidOnTheOverview checks that the first page lists incidents, pages before
// tickets, and a stalled pager.
func TestIncidentsAreSaidOnTheOverview(t *testing.T) {
	rule := func(name, severity, target, state string) AlertRule {
		l := map[string]string{"alertname": name, "severity": severity, "target": target, "workload": "w"}
		return AlertRule{Name: name, Severity: severity, State: state, Alerts: []Alert{{State: state, Labels: l, FiredAt: noon}}}
	}
	alerts := Alerts{Stalled: "no room", Rules: []AlertRule{
		rule("Full", "ticket", "a", "firing"), rule("Slow", "page", "b", "pending"), rule("Down", "page", "c", "firing"), rule("Down", "page", "c", "firing"),
	}}
	p := New(Options{Now: func() time.Time { return noon }, Alerts: func() (Alerts, bool) { return alerts, true }})
	body := get(t, p, "/").Body.String()
	page, ticket := strings.Index(body, ">Down of c since 12:00 (now)<"), strings.Index(body, ">Full of a since 12:00 (now)<")
	if page < 0 || ticket < page || strings.Contains(body, "Slow") || strings.Count(body, "Down of c") != 1 {
		t.Errorf("the overview does not say what fires, pages first: %s", body)
	}
	for _, want := range []string{"the pager has stopped</a>: no room", "<title>paging: c – synthetic</title>", `favicon.ico?state=bad"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the overview does not say %q", want)
		}
	}
}

// TestTicketHidesNoOutage checks that the state of a job with an open ticket is the worse of both.
func TestTicketHidesNoOutage(t *testing.T) {
	ticket := incident{ID: "1", Alerts: []firedAlert{{Severity: "ticket"}}}
	ticket.About.Target, ticket.About.Workload = "a", "w"
	p := New(Options{})
	for outcome, want := range map[probe.Outcome]string{probe.ConnectError: "last turn failed: connect_error", probe.Success: "ticket"} {
		j := Job{Target: "a", Workload: "w", Last: &lastTurn{Outcome: outcome}}
		j.Recent.Turns = 1
		if c := p.cardOf(j, []incident{ticket}); c.State.Text != want || c.Incident != "1" {
			t.Errorf("a ticket and a last turn with %s: %+v of incident %q, want %q", outcome, c.State, c.Incident, want)
		}
	}
}

// TestRuleBadges checks that a rule that cannot be evaluated differs from an inactive one.
func TestRuleBadges(t *testing.T) {
	for _, tt := range []struct {
		rule AlertRule
		want state
	}{
		{AlertRule{State: "unknown"}, state{"unknown", "not yet evaluated"}},
		{AlertRule{State: "inactive"}, state{"good", "inactive"}},
		{AlertRule{State: "inactive", Err: "many-to-many"}, state{"warn", "evaluation failed"}},
		{AlertRule{State: "firing", Severity: "page", Err: "many-to-many", Alerts: []Alert{{}}}, state{"bad", "firing"}},
	} {
		if got := tt.rule.Badge(); got != tt.want {
			t.Errorf("%+v has the badge %v, want %v", tt.rule, got, tt.want)
		}
	}
}
