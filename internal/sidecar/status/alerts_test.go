package status

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

// someAlerts returns two firing alerts, a pending one, and a rule that cannot be evaluated.
func someAlerts() (Alerts, bool) {
	return Alerts{
		Rules: []AlertRule{
			{
				Name: "Full", State: "firing", Severity: "ticket",
				Alerts: []Alert{{State: "firing", ActiveAt: noon.Add(-time.Hour), Labels: map[string]string{"alertname": "Full"}}},
			},
			{
				Name: "SyntheticTargetDown", State: "firing", Severity: "page",
				Alerts: []Alert{{
					State: "firing", Value: "0.93", ActiveAt: noon.Add(-3 * time.Minute),
					Labels: map[string]string{"severity": "page", "target": hostile, "workload": hostile},
					Annotations: map[string]string{
						"cause": "connect_error", "since": noon.Add(-4 * time.Minute).Format(time.RFC3339), "summary": hostile, "description": "nine in ten fail", "dashboard_url": "javascript:alert(1)",
					},
				}},
			},
			{
				Name: "Slow", State: "pending", Severity: "ticket",
				Alerts: []Alert{{State: "pending", Value: "1.4", ActiveAt: noon.Add(-time.Minute), Labels: map[string]string{"target": "t"}}},
			},
			{Name: "Broken", State: "unknown", Severity: "page", Err: "no such " + hostile},
		},
		Receivers: []AlertReceiver{
			{URL: "http://one:9093", LastOK: noon},
			{URL: "http://two:9093", Undelivered: 2, Err: "connection refused " + hostile},
		},
	}, true
}

// TestOpenAlerts: pages come before tickets, pending alerts are not shown, and a link that is no web address is dropped.
func TestOpenAlerts(t *testing.T) {
	alerts, _ := someAlerts()
	open := alerts.open()
	if len(open) != 2 || open[0].State != (state{"bad", "paging"}) || open[0].What().Text != "paging: connections fail" || open[0].Dashboard != "" || open[1].About() != "all targets, or the prober" {
		t.Errorf("%+v", open)
	}
	if step := rules.StepOf(rules.AlertTargetDown, "connect_error"); open[0].Step != step || open[0].Cause != "connections fail" || open[0].Since != noon.Add(-4*time.Minute) {
		t.Errorf("the cause, the first step and the start are %q, %q and %v", open[0].Cause, open[0].Step, open[0].Since)
	}
	if got := alerts.troubles(); len(got) != 2 || !strings.HasPrefix(got[0], "the rule Broken cannot be evaluated: ") || !strings.HasPrefix(got[1], "the Alertmanager http://two:9093 does not accept alerts: ") {
		t.Errorf("the troubles are %q", got)
	}
}

// TestNoAlerts checks that a process without a pager says so, and a stalled pager, too.
func TestNoAlerts(t *testing.T) {
	p := pageAt(noon)
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, "does not evaluate alert rules") {
		t.Errorf("without a pager the page is %s", body)
	}
	p.options.Alerts = func() (Alerts, bool) { return Alerts{Stalled: "no room"}, true }
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, "the pager has stopped: no room") || strings.Contains(body, "does not evaluate") {
		t.Errorf("with a stalled pager the page is %s", body)
	}
}

// TestTicketHidesNoOutage checks that the state of a job with an open ticket is the worse of both.
func TestTicketHidesNoOutage(t *testing.T) {
	ticket := openAlert{Rule: "Slow", SLO: "ttft", Target: "a", Workload: "w", State: state{"warn", "ticket"}}
	p := pageAt(noon)
	for outcome, want := range map[probe.Outcome]string{probe.ConnectError: "last turn failed: connect_error", probe.Success: "ticket: misses ttft"} {
		j := Job{Target: "a", Workload: "w", Last: &lastTurn{turnRow: turnRow{Result: probe.Result{Outcome: outcome}}}}
		j.Recent.Turns = 1
		if s := p.section(j, []openAlert{ticket, {Target: "b", Workload: "w"}}, noon); s.State.Text != want || len(s.Open) != 1 {
			t.Errorf("a ticket and a last turn with %s: %+v with %v, want %q", outcome, s.State, s.Open, want)
		}
	}
}

// TestNormalSince: a job is normal since the end of its last page, for a day.
func TestNormalSince(t *testing.T) {
	now := noon
	p := New(Options{Now: func() time.Time { return now }})
	feed(p, turn(0))
	p.PageEnded(probe.Key{Target: "t", Workload: "w"})
	p.PageEnded(probe.Key{Target: "gone", Workload: "w"})
	for later, want := range map[time.Duration]string{time.Minute: "normal since 12:00", 25 * time.Hour: "normal"} {
		now = noon.Add(later)
		j := only(t, p)
		j.Last.Age.V = 0
		if s := p.section(j, nil, now); s.State != (state{"good", want}) {
			t.Errorf("after %s: %+v, want %q", later, s.State, want)
		}
	}
}

// TestChosenTarget: the page of a target shows the alerts without a target, and none of another one.
func TestChosenTarget(t *testing.T) {
	p := full()
	body := get(t, p, "/?target=t").Body.String()
	if strings.Contains(body, "paging") || !strings.Contains(body, "Full") || !strings.Contains(body, "all 3 jobs") {
		t.Errorf("the page of a target with only the alerts of others:\n%s", body)
	}
}
