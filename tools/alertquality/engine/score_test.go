package engine

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/rules"
)

func at(minutes float64) time.Time { return epoch().Add(time.Duration(minutes * float64(time.Minute))) }

func span(alert string, from, to float64, pairs ...string) Span {
	return Span{Alert: alert, Labels: labels.FromStrings(pairs...), From: at(from), To: at(to)}
}

// pageAt returns a page without a target.
func pageAt(from, to float64) Page { return Page{Start: at(from), End: at(to)} }

func pagesOf(pages ...Page) notifications { return notifications{pages: pages} }

func TestMergePages(t *testing.T) {
	on := func(target, alert string, from, to float64) Span { return span(alert, from, to, "target", target) }
	spans := []Span{on("x", "B", 0, 10), on("x", "A", 5, 8), on("y", "A", 9, 30), on("x", "A", 10, 12), on("x", "B", 20, 21)}
	pageOf := func(target string, from, to float64, alerts ...string) Page {
		return Page{Start: at(from), End: at(to), Alerts: alerts, Target: target}
	}
	for alert, want := range map[string][]Page{
		"":  {pageOf("x", 0, 12, "A", "B"), pageOf("y", 9, 30, "A"), pageOf("x", 20, 21, "B")},
		"A": {pageOf("x", 5, 8, "A"), pageOf("y", 9, 30, "A"), pageOf("x", 10, 12, "A")},
		"C": nil,
	} {
		if diff := cmp.Diff(want, (&RuleSet{}).notifications(spans, alert, "").pages); diff != "" {
			t.Errorf("pages of %q (-want +got):\n%s", alert, diff)
		}
	}
}

func TestJudge(t *testing.T) {
	inc := func(name string, from, to, within float64) Incident {
		return Incident{Name: name, From: at(from), To: at(to), Within: time.Duration(within * float64(time.Minute))}
	}
	incidents := []Incident{inc("found", 100, 130, 30), inc("late", 300, 360, 40), inc("missed", 500, 560, 60), inc("flapping", 700, 760, 60)}
	pages := []Page{
		pageAt(50, 55),   // false
		pageAt(99, 140),  // began before the incident: false
		pageAt(102, 137), // found after 2, resolved after 7
		pageAt(350, 365), // 10 too late
		pageAt(580, 585), // beyond the grace of "missed": false
		pageAt(710, 720), pageAt(730, 771),
		pageAt(774, 776), // second call: false
		pageAt(791, 792), // false; too late for a second call
	}
	detections := judge(pages, nil, incidents)
	type short struct {
		name            string
		pages           int
		page, toResolve float64
	}
	var got []short
	for _, v := range detections {
		s := short{v.Incident.Name, v.Pages, v.ToPage / 60, v.ToResolve / 60}
		if math.IsNaN(s.toResolve) {
			s.toResolve = -1
		}
		got = append(got, s)
	}
	want := []short{{"found", 1, 2, 7}, {"late", 1, math.Inf(1), 5}, {"missed", 0, math.Inf(1), -1}, {"flapping", 2, 10, 11}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(short{})); diff != "" {
		t.Errorf("detections (-want +got):\n%s", diff)
	}
	var belong []string
	for _, p := range pages {
		belong = append(belong, p.Incident+map[bool]string{true: "again"}[p.SecondCall])
	}
	if diff := cmp.Diff([]string{"", "", "found", "late", "", "flapping", "flapping", "again", ""}, belong); diff != "" {
		t.Errorf("incidents of the pages (-want +got):\n%s", diff)
	}
}

// TestScore checks that missed incidents count as infinite times in the quantiles.
func TestScore(t *testing.T) {
	tally := newTally([]string{"f"})
	tally.add(pagesOf(pageAt(5, 6), pageAt(50, 51)), nil, 60)
	incident := func(from float64) Incident {
		return Incident{Name: "f", From: at(from), To: at(from + 30), Within: 30 * time.Minute}
	}
	tally.add(pagesOf(pageAt(102, 131), pageAt(303, 331)), []Incident{incident(100), incident(200), incident(300)}, 30)
	s := tally.score()
	f := s.Faults[0]
	if *s.FalsePer30Days != 1 || s.TruePages != 2 || s.FalsePages != 0 || *s.Precision != 1 {
		t.Errorf("score %+v: want 1 false page per 30 days, precision 1", s)
	}
	if f.Recall != 2.0/3 || *f.MedianToPage != 180 || f.P90ToPage != nil || *f.PagesPerIncident != 1 {
		t.Errorf("fault %+v: want recall 2/3, a median of 3 min and no p90", f)
	}
	if s.Days != 90 || s.AllFalsePages.Count != 2 || *s.AllFalsePages.Per30Days != 2.0/3 {
		t.Errorf("%+v in %v days: want 2 false pages in all 90 days", s.AllFalsePages, s.Days)
	}
}

// TestScoreOfTargets checks that alerts of one target do not count for others, and that an alert of
// the whole fleet is one page in the score of all targets and finds the incident of each target.
func TestScoreOfTargets(t *testing.T) {
	set := &RuleSet{RuleFile: RuleFile{Name: "r", RuleOptions: RuleOptions{Severities: []string{"page"}, Tickets: []string{"ticket"}}}}
	targetPage := func(alert, target string, from, to float64) Span {
		return span(alert, from, to, "severity", "page", "target", target)
	}
	run := Outcome{
		Days: 30, Targets: []string{"a", "b"},
		Incidents: []Incident{
			{Name: "own", From: at(100), To: at(160), Within: time.Hour, Target: "a"},
			{Name: "gateway", From: at(1000), To: at(1060), Within: time.Hour},
		},
		Spans: [][]Span{{
			targetPage("SyntheticSLOFastBurn", "b", 100, 110),
			targetPage("SyntheticSLOFastBurn", "a", 106, 166),
			span("SyntheticRegression", 103, 150, "severity", "ticket", "target", "a"),
			span("SyntheticFleetRegression", 1002, 1062, "severity", "page", "scope", "fleet"),
			targetPage("SyntheticRegression", "a", 1002.2, 1060),
			targetPage("SyntheticRegression", "b", 1003, 1062.4),
			span("SyntheticFleetRegression", 5000, 5060, "severity", "page", "scope", "fleet"),
		}},
	}
	slices.SortFunc(run.Spans[0], func(a, b Span) int { return a.From.Compare(b.From) })
	run.Spans[0] = append(run.Spans[0], span("SyntheticRegression", 6000, 6010, "severity", "ticket", "target", "b"),
		span("SyntheticProberStarved", 7000, 7010, "severity", "ticket"))
	all := ScoreSets("m", []*RuleSet{set}, []string{"own", "gateway"}, []Outcome{run})
	tickets := []Page{
		{Start: at(103), End: at(150), Alerts: []string{"SyntheticRegression"}, Target: "a", Incident: "own"},
		{Start: at(6000), End: at(6010), Alerts: []string{"SyntheticRegression"}, Target: "b"},
		{Start: at(7000), End: at(7010), Alerts: []string{"SyntheticProberStarved"}}, // of all targets only
	}
	if got := all[0].Tickets; got.Count != 3 || got.ForNothing != 2 || !cmp.Equal(got.List, tickets) || all[1].Tickets.Count != 1 || all[2].Tickets.ForNothing != 1 {
		t.Errorf("tickets %+v, of target a %+v, of b %+v; want %+v", got, all[1].Tickets, all[2].Tickets, tickets)
	}
	type short struct {
		Target                string
		Pages, Nothing, Found int
		ToPage, ToTicket      float64
		Hours, Longest        float64
	}
	var got []short
	for _, s := range all {
		row := short{Target: s.Target, Pages: len(s.Pages), Nothing: s.AllFalsePages.Count, Hours: s.Hours, Longest: s.LongestFalse}
		for _, f := range s.Faults {
			row.Found += f.Found
			if f.Fault == "own" {
				row.ToPage, row.ToTicket = *f.MedianToPage/60, *f.MedianToTicket/60
			}
		}
		got = append(got, row)
	}
	want := []short{
		{"", 4, 2, 2, 6, 3, 190.0 / 60, 1}, // b's page, own, gateway, and the false page of the fleet
		{"a", 2, 0, 2, 6, 3, 2, 0},
		{"b", 2, 1, 1, 0, 0, 70.0 / 60, 10.0 / 60},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
}

func TestInhibit(t *testing.T) {
	fleet := span("SyntheticFleetRegression", 10, 20, "severity", "page")
	for name, tt := range map[string]struct {
		span Span
		from float64 // -1 means removed
	}{
		"within":              {span("SyntheticRegression", 11, 19, "severity", "page"), -1},
		"starts before":       {span("SyntheticRegression", 9.8, 20, "severity", "page"), -1},
		"sent before":         {span("SyntheticRegression", 9, 30, "severity", "page"), 9},
		"lasts longer":        {span("SyntheticRegression", 11, 30, "severity", "page"), 20},
		"lasts little longer": {span("SyntheticRegression", 11, 20.3, "severity", "page"), -1},
		"a ticket":            {span("SyntheticRegression", 11, 19, "severity", "ticket"), -1},
		"other name":          {span("Mine", 11, 19, "severity", "page"), 11},
		"after":               {span("SyntheticRegression", 20, 21, "severity", "page"), 20},
	} {
		spans := []Span{fleet, tt.span}
		slices.SortFunc(spans, func(a, b Span) int { return a.From.Compare(b.From) })
		got := -1.0
		for _, s := range inhibit(spans, rules.Inhibitions()) {
			if s.Alert != fleet.Alert {
				got = s.From.Sub(epoch()).Minutes()
			} else if s.From != fleet.From || s.To != fleet.To {
				t.Errorf("%s: the source became %v", name, s)
			}
		}
		if got != tt.from {
			t.Errorf("%s: begins at %v, want %v", name, got, tt.from)
		}
	}
}

// TestInhibitEqualLabels checks that a source inhibits only spans with equal values of the labels in
// Equal.
func TestInhibitEqualLabels(t *testing.T) {
	rule := rules.Inhibitions()[0]
	rule.Equal = []string{"severity"}
	kept := inhibit([]Span{
		span("SyntheticFleetRegression", 10, 20, "severity", "page"),
		span("SyntheticRegression", 11, 19, "severity", "page"), span("SyntheticRegression", 12, 19, "severity", "ticket"),
	}, []rules.Inhibition{rule})
	if len(kept) != 2 || kept[1].Labels.Get("severity") != "ticket" {
		t.Errorf("%v are left, want the source and the ticket", kept)
	}
}

// TestRate compares the interval with a table of Garwood's limits.
func TestRate(t *testing.T) {
	for count, want := range map[int][2]float64{0: {0, 3.6889}, 1: {0.0253, 5.5716}, 4: {1.0899, 10.2416}, 10: {4.7954, 18.3904}, 100: {81.3640, 121.6268}} {
		r := newRate(count, 60)
		if math.Abs(r.CountLow-want[0]) > 1e-4 || math.Abs(r.CountHigh-want[1]) > 1e-4 || math.Abs(*r.Per30DaysHigh-want[1]/2) > 1e-4 {
			t.Errorf("%d in 60 days: %+v, want %v", count, r, want)
		}
	}
	if r := newRate(0, 0); r.Per30Days != nil || r.Per30DaysHigh != nil {
		t.Errorf("rate without days: %+v", r)
	}
}

// TestFiring checks that time in an incident, or up to 15 minutes after it, is not false.
func TestFiring(t *testing.T) {
	var f firing
	incidents := []Incident{{From: at(60), To: at(105)}, {From: at(300), To: at(315)}}
	f.add([]Page{{Start: at(0), End: at(360), Alerts: []string{"A"}}, {Start: at(400), End: at(430), Alerts: []string{"B"}}}, incidents)
	want := firing{Hours: 6.5, FalseHours: 1 + 3 + 0.5 + 0.5, LongestFalse: 3, LongestAlerts: []string{"A"}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
}

func TestComparisonsLoad(t *testing.T) {
	o := RuleOptions{Interval: 30 * time.Second, Severities: []string{"page"}, Tickets: []string{"ticket"}}
	files, err := RuleFiles(nil, nil, true, o)
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v; want 2", len(files), err)
	}
	sets, err := LoadRuleFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		if len(set.alerts()) != 1 || len(set.reads()) == 0 {
			t.Errorf("%s has the alerts %v and reads %v", set.Name, set.alerts(), set.reads())
		}
	}
}

func TestLoadRulesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"groups: [{name: g, rules: [{alert: A, expr: 'up =='}]}]":                                                            "parse error",
		"groups: [{name: g, rules: [{alert: A, expr: 'ALERTS > 0'}]}]":                                                       "a replay does not write: remove the rule",
		"groups: [{name: g, rules: [{record: 'a', expr: 'b'}]}, {name: h, interval: 2m, rules: [{record: 'b', expr: 'a'}]}]": "a and b depend on each other in a circle, but have different intervals",
	} {
		if _, err := loadRules(RuleFile{"r", []byte(text), RuleOptions{Interval: time.Minute}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestSelectRules checks that rules that only tickets read are dropped, also from the look-back.
func TestSelectRules(t *testing.T) {
	const text = `
groups:
  - name: later
    rules:
      - {alert: Page, expr: 'short > 1', labels: {severity: page}}
      - {alert: Ticket, expr: 'long > 1', labels: {severity: ticket}}
  - name: first
    rules:
      - {record: short, expr: 'rate(a_total[10m] offset 5m)'}
      - {record: long, expr: 'rate(b_total[3d])'}
`
	s, err := loadRules(RuleFile{"r", []byte(text), RuleOptions{Interval: time.Minute, Severities: []string{"page"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a_total"}, s.reads()); diff != "" {
		t.Error(diff)
	}
	if got := Lookback([]*RuleSet{s}).Round(time.Second); got != 15*time.Minute {
		t.Errorf("look-back %s, want 15m", got)
	}
	if s.rules[0].name != "short" {
		t.Errorf("the first rule is %s, want short, which another rule reads", s.rules[0].name)
	}
	s, err = loadRules(RuleFile{"r", []byte(text), RuleOptions{Interval: time.Minute, Severities: []string{"page"}, Tickets: []string{"ticket"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a_total", "b_total"}, s.reads()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Page"}, s.alerts()); diff != "" {
		t.Error(diff)
	}
}

func epoch() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }
