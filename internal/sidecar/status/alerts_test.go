package status

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/alerting"
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
		Receivers: []alerting.Receiver{
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
	p.options.Alerts = func() (Alerts, bool) { return Alerts{Rules: make([]AlertRule, 3)}, true }
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, "Paging is on: 3 rules; alerts are shown here and in the log only.") {
		t.Errorf("with a pager without an Alertmanager the page is %s", body)
	}
	p.options.Alerts = func() (Alerts, bool) { return Alerts{Stalled: "no room"}, true }
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, "the pager has stopped: no room") || strings.Contains(body, "does not evaluate") {
		t.Errorf("with a stalled pager the page is %s", body)
	}
}

// TestTicketHidesNoOutage checks that the state of a job with an open ticket is the worse of both.
func TestTicketHidesNoOutage(t *testing.T) {
	ticket := func(target string) AlertRule {
		return AlertRule{Name: "Slow", Severity: "ticket", Alerts: []Alert{{State: "firing", Labels: map[string]string{"slo": "ttft", "target": target, "workload": "w"}}}}
	}
	for outcome, want := range map[probe.Outcome]string{probe.ConnectError: "last turn failed: connect_error", probe.Success: "ticket: misses ttft"} {
		p := pageAt(noon)
		p.options.Alerts = func() (Alerts, bool) { return Alerts{Rules: []AlertRule{ticket("t"), ticket("b")}}, true }
		feed(p, turn(0, func(r *probe.Result) { r.Outcome = outcome }))
		if j := only(t, p); j.State.Text != want || len(j.Open) != 1 {
			t.Errorf("a ticket and a last turn with %s: %+v with %v, want %q", outcome, j.State, j.Open, want)
		}
	}
}

// TestNothingIsGreenBesideAMissedObjective: the badge names a missed objective, also where rules are evaluated.
func TestNothingIsGreenBesideAMissedObjective(t *testing.T) {
	for name, alerts := range map[string]func() (Alerts, bool){"without a pager": nil, "with a pager": func() (a Alerts, ok bool) { return a, true }} {
		p := newPage(Options{Now: func() time.Time { return noon }, Alerts: alerts})
		p.Add(jobOf("t", "w", objectives()...))
		feed(p, turn(10*time.Second, failing(probe.HTTP5xx, "x")), turn(0))
		if got := only(t, p).State; got != (state{"warn", "misses quick"}) {
			t.Errorf("%s: %+v", name, got)
		}
		if body := get(t, p, "/").Body.String(); strings.Contains(body, "state good") || !strings.Contains(body, "favicon.ico?state=warn") {
			t.Errorf("%s, the page has something green", name)
		}
	}
}

// TestNormalSince: a job is normal since the end of its last page, for a day.
func TestNormalSince(t *testing.T) {
	now := noon
	p := newPage(Options{Now: func() time.Time { return now }})
	feed(p, turn(0))
	p.PageEnded(probe.Key{Target: "t", Workload: "w"})
	p.PageEnded(probe.Key{Target: "gone", Workload: "w"})
	for later, want := range map[time.Duration]string{time.Minute: "normal since 12:00", 25 * time.Hour: "normal"} {
		now = noon.Add(later)
		feed(p, turn(-later))
		if got := only(t, p).State; got != (state{"good", want}) {
			t.Errorf("after %s: %+v, want %q", later, got, want)
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
