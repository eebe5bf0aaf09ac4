package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// pagerSays returns a page whose pager lists these firing alerts.
func pagerSays(firing ...AlertChange) *Page {
	var all Alerts
	for _, c := range firing {
		all.Rules = append(all.Rules, AlertRule{Alerts: []Alert{{State: "firing", Labels: c.Labels, Annotations: c.Annotations, FiredAt: c.At}}})
	}
	return New(Options{Now: func() time.Time { return noon }, Alerts: func() (Alerts, bool) { return all, true }})
}

// TestAskedTooEarly checks that a list of alerts from before an alert's end does not reopen its
// incident, which would then never end.
func TestAskedTooEarly(t *testing.T) {
	fires := told("Slow", "page", 10*time.Minute, 0)
	p := pagerSays(fires)
	p.Alert(fires)
	p.Alert(told("Slow", "page", 10*time.Minute, 5*time.Minute))
	if i := p.incidentsNow()[0]; i.Ended.IsZero() || len(i.Alerts) != 1 {
		t.Errorf("the incident goes on: %+v", i)
	}
}

// TestNamedByTheOldest checks that an incident keeps its name over a restart, whatever the
// order of the rules.
func TestNamedByTheOldest(t *testing.T) {
	i := pagerSays(told("Slow", "page", 5*time.Minute, 0), told("Burn", "page", 20*time.Minute, 0)).incidentsNow()[0]
	if want := noon.Add(-20 * time.Minute); !i.Started.Equal(want) || !strings.Contains(i.ID, want.UTC().Format("1504")) {
		t.Errorf("it is %s, begun at %v", i.ID, i.Started)
	}
}

// TestManyAtOnce checks that the page keeps all open incidents, and the latest finished ones.
// Their marks do not displace those of releases.
func TestManyAtOnce(t *testing.T) {
	const jobs = 3 * incidentsKept
	var firing []AlertChange
	for n := range jobs {
		firing = append(firing, told("Down", "page", 10*time.Minute, 0, func(c *AlertChange) { c.Labels["target"] = fmt.Sprint("t", n) }))
	}
	p := pagerSays(firing...)
	p.options.Marks.Add(sink.Mark{At: noon.Add(-time.Hour), Source: sink.MarkDeploy, Text: "release 7"})
	first := p.incidentsNow()
	if again := p.incidentsNow(); len(first) != jobs || again[0].ID != first[0].ID || len(again) != jobs {
		t.Fatalf("%d incidents and then %d, want all %d", len(first), len(again), jobs)
	}
	if got := p.marked("t7", span{noon.Add(-2 * time.Hour), noon}); len(got) != 2 || got[0].Source != sink.MarkDeploy || got[1].Source != sink.MarkIncident {
		t.Errorf("the marks are %+v, want the release and its incident", got)
	}
	for _, c := range firing {
		c.Firing, c.Lasted = false, time.Minute
		p.Alert(c)
	}
	for n := range jobs {
		p.Alert(told("Down", "page", 0, 0, func(c *AlertChange) { c.Labels["target"] = fmt.Sprint("u", n) }))
	}
	if got := len(p.incidents.list(noon)); got != jobs {
		t.Errorf("%d incidents are kept, want those that go on", got)
	}
}

// TestOfTheProber checks that a change with external labels and a listed alert without them
// belong to one incident. Otherwise the second would never end.
func TestOfTheProber(t *testing.T) {
	with := func(external string) AlertChange {
		return told("Stuck", "page", time.Minute, 0, func(c *AlertChange) {
			c.Labels = map[string]string{"alertname": "Stuck", "severity": "page"}
			if external != "" {
				c.Labels["instance"] = external
			}
		})
	}
	p := pagerSays(with(""))
	p.Alert(with("eu-1"))
	if all := p.incidentsNow(); len(all) != 1 {
		t.Errorf("%d incidents, want one", len(all))
	}
}

// TestSilence checks that Alertmanager's page understands the link: it does not decode + as a
// space.
func TestSilence(t *testing.T) {
	p := pageAt(noon)
	p.options.Alerts = func() (Alerts, bool) { return Alerts{Receivers: []AlertReceiver{{URL: "http://am:9093/"}}}, true }
	p.Alert(told("Slow", "page", time.Minute, 0))
	p.Alert(told("Own", "page", 2*time.Minute, 0, func(c *AlertChange) {
		c.Labels = map[string]string{"alertname": "Own", "severity": "page", "scope": "fleet", "slo": "ttft"}
	}))
	for n, want := range []string{"%7Balertname%3D%22Own%22%7D", "%7Btarget%3D%22t%22%2Cworkload%3D%22w%22%7D"} {
		if got := p.silences(p.incidents.list(noon)[n]); len(got) != 1 || got[0].Path != "http://am:9093/#/silences/new?filter="+want {
			t.Errorf("it leads to %+v", got)
		}
	}
}

// TestDownSince checks that a slow drift over days does not count as the start of an outage.
func TestDownSince(t *testing.T) {
	p := pageAt(noon)
	p.Add(jobOf("t", "w"))
	p.options.Baseline = func(probe.Key) (r baseline.Reading, ok bool) {
		r.Views[1][0] = baseline.View{Ratio: probe.Some(1.3), Baseline: probe.Some(0.3), Since: noon.Add(-48 * time.Hour)}
		return r, true
	}
	p.Alert(told("SyntheticTargetDown", "page", time.Minute, 0))
	if got, want := p.incidentsNow()[0].Headline(), "t is down since 11:59 UTC"; got != want {
		t.Errorf("before any turn it says %q, want %q", got, want)
	}
	feed(p, turn(50*time.Second, failing(probe.Stall, "x")), turn(0, failing(probe.Stall, "x")), turn(-50*time.Second, failing(probe.HTTP5xx, "x")))
	if got, want := p.incidentsNow()[0].Headline(), "t is down since 11:59 UTC: 3 of 3 turns failed (stall): x"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// TestIncidentsCountSessions: an incident counts the bad sessions since its fault began, before and after its alert.
func TestIncidentsCountSessions(t *testing.T) {
	p := pageAt(noon)
	p.Add(jobOf("t", "w", slo.Objective{Name: "whole", SLI: slo.Session, Threshold: time.Minute, Objective: 0.9}))
	session := func(lasts, ago time.Duration, o probe.Outcome) {
		p.Observe(probe.ConversationStart{Target: "t", Workload: "w"})
		end := noon.Add(-ago)
		p.Observe(probe.Conversation{Target: "t", Workload: "w", Outcome: o, Sent: end.Add(-lasts), End: end})
	}
	session(time.Hour, 20*time.Minute, probe.Success)
	session(time.Hour, 9*time.Minute, probe.Success)
	p.Alert(told("SyntheticSLOFastBurn", "page", 10*time.Minute, 0, func(c *AlertChange) {
		c.Labels["sli"], c.Labels["slo"] = rules.SLISession, "whole"
	}))
	session(time.Second, 3*time.Minute, probe.Success)
	session(time.Second, 2*time.Minute, probe.Stall)
	session(time.Hour, time.Minute, probe.Success)
	if i := p.incidentsNow()[0]; i.Bad["whole"] != 3 {
		t.Errorf("the incident has %v bad sessions, want 3", i.Bad)
	}
}
