package backtest

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func at(minutes float64) time.Time { return epoch().Add(time.Duration(minutes * float64(time.Minute))) }

func span(alert string, from, to float64) Span { return Span{Alert: alert, From: at(from), To: at(to)} }

func TestPages(t *testing.T) {
	spans := []Span{span("A", 0, 10), span("B", 5, 8), span("B", 10, 12), span("A", 20, 21)}
	for alert, want := range map[string][]Page{
		"":  {{at(0), at(12)}, {at(20), at(21)}},
		"A": {{at(0), at(10)}, {at(20), at(21)}},
		"B": {{at(5), at(8)}, {at(10), at(12)}},
		"C": nil,
	} {
		if diff := cmp.Diff(want, Pages(spans, alert)); diff != "" {
			t.Errorf("pages of %q (-want +got):\n%s", alert, diff)
		}
	}
}

func TestDetect(t *testing.T) {
	inc := func(name string, from, to, within float64) Incident {
		return Incident{name, at(from), at(to), time.Duration(within * float64(time.Minute))}
	}
	incidents := []Incident{inc("found", 100, 130, 30), inc("late", 300, 360, 40), inc("missed", 500, 560, 60), inc("flapping", 700, 760, 60)}
	pages := []Page{
		{at(50), at(55)},   // false
		{at(99), at(140)},  // began before the incident: false, too
		{at(102), at(137)}, // found after 2, resolved after 7
		{at(350), at(365)}, // 10 too late
		{at(580), at(585)}, // beyond the grace of "missed": false
		{at(710), at(720)}, {at(730), at(740)}, {at(770), at(774)},
	}
	detections, falsePages := Detect(pages, incidents)
	if falsePages != 3 {
		t.Errorf("%d false pages, want 3", falsePages)
	}
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
	want := []short{{"found", 1, 2, 7}, {"late", 1, math.Inf(1), 5}, {"missed", 0, math.Inf(1), -1}, {"flapping", 3, 10, 14}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(short{})); diff != "" {
		t.Errorf("detections (-want +got):\n%s", diff)
	}
}

// TestScore: missed incidents count as never paged in the quantiles.
func TestScore(t *testing.T) {
	tally := newTally([]string{"f"})
	tally.add([]Page{{at(5), at(6)}, {at(50), at(51)}}, nil, 60)
	incident := func(from float64) Incident { return Incident{"f", at(from), at(from + 30), 30 * time.Minute} }
	tally.add([]Page{{at(102), at(131)}, {at(303), at(331)}}, []Incident{incident(100), incident(200), incident(300)}, 30)
	s := tally.score()
	f := s.Faults[0]
	if *s.FalsePer30Days != 1 || s.TruePages != 2 || s.FalsePages != 0 || *s.Precision != 1 {
		t.Errorf("score %+v: want 1 false page per 30 days, precision 1", s)
	}
	if f.Recall != 2.0/3 || *f.MedianToPage != 180 || f.P90ToPage != nil || *f.PagesPerIncident != 1 {
		t.Errorf("fault %+v: want recall 2/3, a median of 3 min and no p90", f)
	}
}

func TestReadIncidents(t *testing.T) {
	got, err := ReadIncidents(strings.NewReader("# what was wrong\nouter, 2026-01-05T00:00:00Z, 2026-01-05T01:00:00Z\n"))
	if err != nil || len(got) != 1 || got[0].Within != time.Hour {
		t.Errorf("incidents %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"a,b\n":                              "each line is name,start,end",
		"a,yesterday,2026-01-05T01:00:00Z\n": `incident 1 ("a"): its start`,
		"a,2026-01-05T02:00:00Z,2026-01-05T01:00:00Z\n": "before it starts",
	} {
		if _, err := ReadIncidents(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLoadRulesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"groups: [{name: g, rules: [{alert: A, expr: 'up =='}]}]":                                              "parse error",
		"groups: [{name: g, rules: [{alert: A, expr: 'ALERTS > 0'}]}]":                                         "a replay does not write",
		"groups: [{name: g, rules: [{record: 'a', expr: 'b'}]}, {name: h, rules: [{record: 'b', expr: 'a'}]}]": "cannot follow a circle",
	} {
		if _, err := LoadRules("r", []byte(text), RuleOptions{Interval: time.Minute}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestNeeded: what only tickets read is not evaluated, and the look-back is that
// of what is left.
func TestNeeded(t *testing.T) {
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
	s, err := LoadRules("r", []byte(text), RuleOptions{Interval: time.Minute, Severities: []string{"page"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a_total"}, s.Reads()); diff != "" {
		t.Error(diff)
	}
	if got := s.Lookback().Round(time.Second); got != 15*time.Minute {
		t.Errorf("look-back %s, want 15m", got)
	}
	if s.rules[0].name != "short" {
		t.Errorf("the first rule is %s, want what is read by another", s.rules[0].name)
	}
}

// TestLevelNoise: the noise has the size that it is called by.
func TestLevelNoise(t *testing.T) {
	for _, m := range []Model{Quiet(), Typical()} {
		m.BurstsPerDay = 0
		l := newLevel(m, rand.New(rand.NewPCG(1, 1)), 300*24*time.Hour)
		const block = int(30 * time.Minute / levelStep)
		var squares float64
		n := 0
		for i := 0; i+block <= len(l); i += block {
			sum := 0.0
			for _, v := range l[i : i+block] {
				sum += float64(v)
			}
			squares += sum / float64(block) * sum / float64(block)
			n++
		}
		if sd := math.Sqrt(squares / float64(n)); math.Abs(sd/m.LevelSD-1) > 0.1 {
			t.Errorf("%s: 30-minute level SD %.4f, want %.4f", m.Name, sd, m.LevelSD)
		}
	}
}
