package dashboard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/tools/testkit/dashboardtest"
)

// TestAnnotationsAreThin: two overlapping pages and a ticket give one mark for the start and one for the end,
// for the selected target only, and none for a page about the prober. Each is a single sample, which Grafana draws as a line and not as a region.
func TestAnnotationsAreThin(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	for minute := range 30 {
		for _, a := range []struct {
			target, name, severity string
			from, to               int
		}{
			{"chat", "SyntheticSLOFastBurn", "page", 5, 12},
			{"chat", "SyntheticRegression", "page", 7, 20},
			{"chat", "SyntheticRegression", "ticket", 2, 25},
			{"code", "SyntheticTargetDown", "page", 3, 29},
			{"", "SyntheticProberSilent", "page", 1, 29},
		} {
			if minute < a.from || minute > a.to {
				continue
			}
			at := start.Add(time.Duration(minute) * time.Minute)
			if err := store.Put(at, 1, "__name__", "ALERTS", "alertname", a.name, "alertstate", "firing", "severity", a.severity, "target", a.target, "workload", "w"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, d := range generate(t, example()) {
		list := decode(t, d).Annotations.List
		if len(list) != 2 {
			t.Fatalf("%s has %d annotations, want the begin and the end", d.File, len(list))
		}
		// The last sample is seen for five minutes: nothing said that the alert is over.
		for i, minute := range []int{5, 25} {
			got, err := dashboardtest.Marks(t.Context(), store, list[i].Expr, "chat", start, start.Add(30*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			want := start.Add(time.Duration(minute) * time.Minute).UnixMilli()
			if len(got) != 1 || len(got[0].Floats) != 1 || got[0].Floats[0].T != want || got[0].Metric.Get("target") != "chat" {
				t.Errorf("%s: %q gives %v, want one sample of chat at minute %d", d.File, list[i].Name, got, minute)
			}
		}
	}
}

// TestAlertsLinkToRunbooks: with an address of runbooks, the first steps of alerts are links.
func TestAlertsLinkToRunbooks(t *testing.T) {
	in := example()
	for url, want := range map[string]int{"": 0, "https://git.example/runbooks/": 1} {
		in.RunbookURL = url
		linked := 0
		for _, d := range generate(t, in) {
			for _, p := range decode(t, d).Panels {
				for _, o := range p.FieldConfig.Overrides {
					if p.Title == "Open alerts" && o.Matcher.Options == "First step" && strings.Contains(fmt.Sprint(o.Property("links")), "https://git.example/runbooks/${__data.fields.alertname}.md") {
						linked++
					}
				}
			}
		}
		if linked != want {
			t.Errorf("with runbooks at %q, %d tables of alerts have links, want %d", url, linked, want)
		}
	}
}

// states compares the state of each target with the wanted one.
func states(t *testing.T, store *dashboardtest.Store, at time.Time, want map[string]float64) {
	t.Helper()
	expr := find(t, generate(t, example()), "Targets", "A")
	got, err := dashboardtest.Instant(t.Context(), store, expr, at, time.Hour)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d targets, want %d (%v)", len(got), len(want), err)
	}
	for _, s := range got {
		if target := s.Metric.Get("target"); s.F != want[target] {
			t.Errorf("the state of %s is %v, want %v", target, s.F, want[target])
		}
	}
}

// TestProbersThatDifferInATarget: a target has one row, also if two probers reach it in
// different ways.
func TestProbersThatDifferInATarget(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	for _, instance := range []string{"east", "west"} {
		for name, value := range map[string]float64{"synthetic_consecutive_failed_turns": 3, "synthetic_scheduler_heartbeat_timestamp_seconds": 1} {
			if err := store.Put(at, value, "__name__", name, "target", "chat", "workload", "w", "instance", instance); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Put(at, 1, "__name__", "synthetic_target_info", "target", "chat", "url", "http://"+instance, "model", "m", "instance", instance); err != nil {
			t.Fatal(err)
		}
	}
	expr := find(t, generate(t, example()), "Targets", "H")
	got, err := dashboardtest.Instant(t.Context(), store, expr, at, time.Hour)
	if err != nil || len(got) != 1 || got[0].Metric.Get("url") == "" {
		t.Errorf("%v (%v), want one row of chat", got, err)
	}
}

// TestStates checks the state of a target for several exported series.
func TestStates(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	want := map[string]float64{"fine": 0, "starved": 1, "ticket": 2, "slower": 3, "down": 3}
	for target, state := range want {
		put := func(name string, value float64) {
			if err := store.Put(start, value, "__name__", name, "target", target, "workload", "w", "signal", "ttft"); err != nil {
				t.Fatal(err)
			}
		}
		is := func(yes bool) float64 {
			if yes {
				return 1
			}
			return 0
		}
		put("synthetic_scheduler_heartbeat_timestamp_seconds", 1)
		// A starved prober hides no other state.
		put("synthetic_prober_starved", is(state >= 1))
		put("synthetic_regression_ticket_score", is(state >= 2))
		put("synthetic_regression_page_score", is(target == "slower"))
		put("synthetic_consecutive_failed_turns", 3*is(target == "down"))
		put("synthetic_failing_seconds", 60*is(target == "down"))
	}
	states(t, store, start, want)
}

// TestReplicasVote: a prober that has measured nothing does not halve the score of another one, as in the rules. If rules
// are loaded, they decide.
func TestReplicasVote(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	want := map[string]float64{"slower": 3, "outvoted": 0, "judged": 0}
	for target := range want {
		put := func(instance, name string, value float64) {
			if err := store.Put(at, value, "__name__", name, "target", target, "workload", "w", "signal", "ttft", "instance", instance); err != nil {
				t.Fatal(err)
			}
		}
		for instance, score := range map[string]float64{"a": 1.5, "b": 0} {
			put(instance, "synthetic_scheduler_heartbeat_timestamp_seconds", 1)
			put(instance, "synthetic_regression_page_score", score)
			if score > 0 || target == "outvoted" {
				put(instance, "synthetic_regression_ratio", 1+score)
			}
		}
		if target == "judged" {
			put("rules", "target_workload:synthetic_configured:max", 300)
		}
	}
	states(t, store, at, want)
}

// TestSince: the start of a fault is that of its failures, else of its regression, else of its alert. A regression that
// has just ended is remembered for as long as its alert lasts, one of ten minutes ago is not.
func TestSince(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	unix := func(ago time.Duration) float64 { return float64(at.Add(-ago).Unix()) }
	const regressed = "synthetic_regression_since_timestamp_seconds"
	want := map[string]time.Duration{"alert": 3 * time.Minute, "slower": 9 * time.Minute, "down": 2 * time.Minute, "ending": 20 * time.Minute, "earlier": 3 * time.Minute}
	for target := range want {
		put := func(ago time.Duration, value float64, labels ...string) {
			if err := store.Put(at.Add(-ago), value, append(labels, "target", target, "workload", "w")...); err != nil {
				t.Fatal(err)
			}
		}
		switch target {
		case "slower":
			put(0, unix(9*time.Minute), "__name__", regressed)
		case "down":
			put(0, unix(9*time.Minute), "__name__", regressed)
			put(0, 120, "__name__", "synthetic_failing_seconds")
			put(0, 5, "__name__", "synthetic_consecutive_failed_turns")
		case "ending":
			put(2*time.Minute, unix(20*time.Minute), "__name__", regressed)
			put(time.Minute, 0, "__name__", regressed)
		case "earlier":
			put(12*time.Minute, unix(30*time.Minute), "__name__", regressed)
			put(10*time.Minute, 0, "__name__", regressed)
		}
		put(0, 1, "__name__", "ALERTS", "alertname", "SyntheticRegression", "alertstate", "firing", "severity", "page")
		put(0, unix(3*time.Minute), "__name__", "ALERTS_FOR_STATE", "alertname", "SyntheticRegression", "severity", "page")
		put(0, 1, "__name__", "synthetic_scheduler_heartbeat_timestamp_seconds")
	}
	got, err := dashboardtest.Instant(t.Context(), store, find(t, generate(t, example()), "Targets", "B"), at, time.Hour)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v (%v)", got, err)
	}
	for _, s := range got {
		if target := s.Metric.Get("target"); s.F != 1000*unix(want[target]) {
			t.Errorf("%s: since %v, want %v ago", target, at.Sub(time.UnixMilli(int64(s.F))), want[target])
		}
	}
}

// TestCalm: the table of alerts says that nothing pages only if rules are loaded and no target is down. Rules decide about a
// ticket, if they are loaded. The alerts of an embedded pager are not in this Prometheus, so the table says where they are.
func TestCalm(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const rules, pager = "target_workload:synthetic_configured:max", "synthetic_pager_stalled"
	for _, tt := range []struct {
		from          string
		failed, score float64
		want          string
	}{
		{rules, 0, 0, "Calm"}, {pager, 0, 0, "Pager"}, {"", 0, 0, "NoRules"},
		{rules, 3, 0, "SyntheticTargetDown"}, {pager, 3, 0, "Pager SyntheticTargetDown"},
		{rules, 0, 1, "Calm"}, {"", 0, 1, "NoRules SyntheticRegression"}, {pager, 0, 1, "Pager SyntheticRegression"},
	} {
		store := dashboardtest.Open(t, dashboardtest.Text)
		for name, value := range map[string]float64{
			"synthetic_consecutive_failed_turns": tt.failed, "synthetic_failing_seconds": 20 * tt.failed,
			"synthetic_regression_ticket_score": tt.score, "synthetic_scheduler_heartbeat_timestamp_seconds": 1, tt.from: 0,
		} {
			if name == "" {
				continue
			}
			if err := store.Put(at, value, "__name__", name, "target", "chat", "workload", "w", "signal", "ttft"); err != nil {
				t.Fatal(err)
			}
		}
		got, err := dashboardtest.Instant(t.Context(), store, find(t, generate(t, example()), "Open alerts", "A"), at, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		var says []string
		for _, s := range got {
			says = append(says, s.Metric.Get("says"))
			if state := map[string]float64{"Pager": -1, "Calm": 0, "SyntheticTargetDown": 3}; s.F != state[says[len(says)-1]] && s.F != 2 {
				t.Errorf("the state of the row %s is %v", says[len(says)-1], s.F)
			}
		}
		if slices.Sort(says); strings.Join(says, " ") != tt.want {
			t.Errorf("with %q, %v failed turns and a ticket score of %v: %q, want %q", tt.from, tt.failed, tt.score, says, tt.want)
		}
	}
}
