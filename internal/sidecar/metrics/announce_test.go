package metrics

import (
	"maps"
	"slices"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/probe"
)

// TestLateCountersBeginAtZero checks that a scraper in the mode lean sees the first increase of a reason, as
// does a second one that scrapes between two scrapes of the first.
func TestLateCountersBeginAtZero(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	r.SetMode(Lean)
	fail := func(o probe.Outcome) {
		run(r, probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: o, Sent: c.now, End: c.now})
	}
	want := func(seconds int, counts map[string]float64) {
		t.Helper()
		c.now = start.Add(time.Duration(seconds) * time.Second)
		got := map[string]float64{}
		for reason, n := range countsOf(t, r, TurnFailures, LabelReason) {
			got[reason] = n
		}
		if !maps.Equal(got, counts) {
			t.Errorf("after %d s: %v, want %v", seconds, got, counts)
		}
	}
	want(0, map[string]float64{"http_429": 0})
	fail(probe.Stall)
	fail(probe.Stall)
	fail(probe.HTTP429)
	want(15, map[string]float64{"http_429": 1, "stall": 0})
	want(22, map[string]float64{"http_429": 1, "stall": 0})
	want(30, map[string]float64{"http_429": 1, "stall": 2})
	fail(probe.Truncated)
	want(45, map[string]float64{"http_429": 1, "stall": 2, "truncated": 0})
	fail(probe.Truncated)
	want(60, map[string]float64{"http_429": 1, "stall": 2, "truncated": 2})
	r.SetMode(both)
	fail(probe.HTTP4xx)
	if got := countsOf(t, r, TurnFailures, LabelReason); got[string(probe.HTTP4xx)] != 1 || len(got) != len(probe.Failures()) {
		t.Errorf("in the mode both: %v", got)
	}
}

// TestCountersWithHistoryKeepTheirValues checks that a counter which earlier scrapes had, or could have had, does
// not fall to 0: the increase after that would count its whole history again.
func TestCountersWithHistoryKeepTheirValues(t *testing.T) {
	labeled := jobs("a")
	labeled[0].Target.Labels, labeled[0].Target.Service = map[string]string{"team": "search"}, "chat"
	for name, tt := range map[string]struct {
		scraped Mode
		change  func(r *testRecorder)
	}{
		"mode change":       {both, func(r *testRecorder) { r.SetMode(Lean) }},
		"label change":      {Lean, func(r *testRecorder) { apply(r, labeled) }},
		"late first scrape": {"", func(r *testRecorder) { r.SetMode(Lean) }},
		"between modes":     {Lean, func(r *testRecorder) { r.SetMode(native) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := &clock{start}
			r := newTestRecorder(c, "a")
			r.SetMode(tt.scraped)
			scrape := func(want float64) {
				t.Helper()
				if got := countsOf(t, r, TurnFailures, LabelReason)["stall"]; got != want {
					t.Errorf("%v stalls, want %v", got, want)
				}
				c.now = c.now.Add(15 * time.Second)
			}
			stall := func(kind probe.TurnKind) {
				run(r, probe.Result{Target: "a", Workload: "chat", Kind: kind, Outcome: probe.Stall, Sent: c.now, End: c.now})
			}
			if tt.scraped != "" {
				scrape(0)
			}
			for range 3 {
				stall(probe.First)
			}
			if tt.scraped != "" {
				scrape(map[Mode]float64{both: 3}[tt.scraped])
				scrape(3)
			}
			tt.change(r)
			scrape(3)
			stall(probe.Followup) // a counter that no scrape had
			scrape(3)
			scrape(4)
		})
	}
}

// TestModeChangeAndBack checks that a counter which appeared in the mode both keeps its value in the mode lean, also
// if the job was scraped in lean before.
func TestModeChangeAndBack(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	stalls := func(m Mode) float64 {
		r.SetMode(m)
		c.now = c.now.Add(15 * time.Second)
		return countsOf(t, r, TurnFailures, LabelReason)["stall"]
	}
	stalls(Lean)
	stalls(both)
	run(r, probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: probe.Stall, Sent: c.now, End: c.now})
	if before, after := stalls(both), stalls(Lean); before != 1 || after != 1 {
		t.Errorf("%v stalls in both, then %v in lean, want 1", before, after)
	}
}

// TestOnlyDoesNotAnnounce checks that readers inside the process do not take the announcements of scrapers.
func TestOnlyDoesNotAnnounce(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	r.SetMode(Lean)
	inside := func() {
		if _, err := r.Only(func(string) bool { return true }).Gather(); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(time.Minute)
	}
	inside()
	countsOf(t, r, TurnFailures, LabelReason)
	run(r, probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: probe.Stall, Sent: c.now, End: c.now})
	inside()
	if got, has := countsOf(t, r, TurnFailures, LabelReason)["stall"]; got != 0 || !has {
		t.Errorf("%v stalls, %t, want the series with 0", got, has)
	}
}

// TestKeysTellLateCountersApart checks that announcementKey has each label in which two late counters of a job differ.
func TestKeysTellLateCountersApart(t *testing.T) {
	ofJob := []string{LabelTarget, LabelWorkload}
	for _, m := range Catalog() {
		if !slices.Contains(late(), m.Name) {
			continue
		}
		for _, label := range m.Labels {
			if !slices.Contains(ofJob, label) && announcementKey(m.Name, labels{}.with(label, "a")) == announcementKey(m.Name, labels{}.with(label, "b")) {
				t.Errorf("the key of %s lacks the label %s", m.Name, label)
			}
		}
		if !slices.Contains(m.Labels, LabelWorkload) {
			t.Errorf("%s does not belong to a job, so it is not announced", m.Name)
		}
	}
}

// countsOf returns the values of a family's counters by the value of a label, summed over the others.
func countsOf(t *testing.T, r *testRecorder, family, label string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() == family {
			for _, m := range f.Metric {
				out[valueOf(m, label)] += m.GetCounter().GetValue()
			}
		}
	}
	return out
}

func valueOf(m *dto.Metric, label string) string {
	for _, l := range m.Label {
		if l.GetName() == label {
			return l.GetValue()
		}
	}
	return ""
}
