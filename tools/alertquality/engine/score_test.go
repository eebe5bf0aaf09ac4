package engine

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
)

func at(minutes float64) time.Time { return epoch().Add(time.Duration(minutes * float64(time.Minute))) }

func span(alert string, from, to float64, pairs ...string) Span {
	return Span{Alert: alert, Labels: labels.FromStrings(pairs...), From: at(from), To: at(to)}
}

// pageAt returns a page without a target.
func pageAt(from, to float64) Page { return Page{Start: at(from), End: at(to)} }

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
		name  string
		pages int
		page  float64
	}
	var got []short
	for _, v := range detections {
		got = append(got, short{v.Name, v.Pages, v.ToPage / 60})
	}
	want := []short{{"found", 1, 2}, {"late", 1, math.Inf(1)}, {"missed", 0, math.Inf(1)}, {"flapping", 2, 10}}
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

func epoch() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

// TestScore checks that missed incidents have infinite times.
func TestScore(t *testing.T) {
	page := func(from, to float64) Span { return span("SyntheticRegression", from, to, "severity", "page") }
	incident := func(from float64) Incident {
		return Incident{Name: "f", From: at(from), To: at(from + 30), Within: 30 * time.Minute}
	}
	s := NewScore("w", []Outcome{
		{Days: 60, Spans: []Span{page(5, 6), page(50, 80)}},
		{Days: 30, Spans: []Span{page(102, 131), span("SyntheticRegression", 201, 210, "severity", "ticket"), page(303, 331), page(350, 400)},
			Incidents: []Incident{incident(100), incident(200), incident(300)}},
	})
	inf := math.Inf(1)
	want := Score{
		World: "w", Days: 90, False: NewRate(3, 90), Repeated: 1,
		Detections: []Detection{{incident(100), 1, 120, inf}, {incident(200), 0, inf, 60}, {incident(300), 1, 180, inf}},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("score (-want +got):\n%s", diff)
	}
}

// TestRate compares the interval with a table of Garwood's limits.
func TestRate(t *testing.T) {
	for count, want := range map[int][2]float64{0: {0, 3.6889}, 1: {0.0253, 5.5716}, 4: {1.0899, 10.2416}, 10: {4.7954, 18.3904}, 100: {81.3640, 121.6268}} {
		if r := NewRate(count, 60); math.Abs(2*r.Low-want[0]) > 1e-4 || math.Abs(2*r.High-want[1]) > 1e-4 || r.Per30Days != float64(count)/2 {
			t.Errorf("%d in 60 days: %+v, want %v", count, r, want)
		}
	}
}
