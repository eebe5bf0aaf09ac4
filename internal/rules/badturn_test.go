package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// said returns what the alerts of a name say of a bad turn, by kind of turn
// ("" where the alert is about both).
func said(h *house, name string) map[string]string {
	out := map[string]string{}
	for _, a := range h.alerts() {
		text := a.Annotations.Get("description")
		if a.Labels.Get("alertname") != name {
			continue
		}
		for _, begin := range []string{"Latest bad turn: ", "No bad turn "} {
			if at := strings.Index(text, begin); at >= 0 {
				out[a.Labels.Get("turn")] = text[at:]
			}
		}
	}
	return out
}

// TestAlertsNameABadTurn reads the annotation of an alert on all turns, on one
// kind of them, and of one that has none.
func TestAlertsNameABadTurn(t *testing.T) {
	h := newHouse(t, usual(), 1)
	h.scrapes(49 * time.Hour)
	behaving(slow)(h)
	h.run(10 * time.Minute)
	// The first bad turns ended at 49:01; they are replaced after five minutes.
	const first, followup = "first turn, ttft, ended 2027-01-17 09:06:00 +0000 UTC).", "followup turn, ttft, ended 2027-01-17 09:06:00 +0000 UTC)."
	got := said(h, rules.AlertFastRegression)
	for turn, want := range map[string]string{"first": first, "followup": followup} {
		if !strings.HasSuffix(got[turn], want) || !strings.HasPrefix(got[turn], "Latest bad turn: trace prober-0-") {
			t.Errorf("of %s turns the alert says %q, want …%s", turn, got[turn], want)
		}
	}
	burn := said(h, rules.AlertSLOFastBurn)[""]
	if burn != got["first"] && burn != got["followup"] {
		t.Errorf("of both the burn alert says %q, want one of %q", burn, got)
	}
}

// TestAnAlertWithoutABadTurnSaysSo: all turns are a little slower, and the
// prober that had seen a bad one is gone.
func TestAnAlertWithoutABadTurnSaysSo(t *testing.T) {
	h := newHouse(t, usual(), 1)
	behaving(noisy(1))(h)
	h.scrapes(49 * time.Hour)
	behaving(noisy(1.33))(h)
	h.run(55 * time.Minute)
	want := map[string]string{"first": "No bad turn of the last hour is known.", "followup": "No bad turn of the last hour is known."}
	if diff := cmp.Diff(want, said(h, rules.AlertSlowRegression)); diff != "" {
		t.Errorf("what the alerts say (-want +got):\n%s", diff)
	}
}

// TestReplicasNameOneBadTurn: that which ended last, and what one prober has
// still to show does not hide it.
func TestReplicasNameOneBadTurn(t *testing.T) {
	in := withSLOs(slo.Objective{Name: "up", SLI: slo.Availability, Objective: 0.99, Window: 30 * day, Turns: []probe.TurnKind{probe.First}})()
	h := newHouse(t, in, 3)
	h.scrapes(2 * time.Hour)
	h.probers[0].behave = failing(probe.HTTP5xx)
	h.scrapes(6 * time.Minute)
	h.probers[0].behave = ok
	h.scrapes(10 * time.Minute)
	h.probers[1].behave = failing(probe.Stall)
	h.probers[2].behave = failing(probe.ErrorEvent)
	h.run(14 * time.Minute)
	got := said(h, rules.AlertSLOFastBurn)
	if len(got) != 1 {
		t.Fatalf("the alerts say %q, want one alert", got)
	}
	text := got["first"]
	if strings.Count(text, "trace") != 1 || strings.Contains(text, "prober-0") || strings.Contains(text, "http_5xx") {
		t.Errorf("the alert says %q, want the one turn that ended last", text)
	}
}
