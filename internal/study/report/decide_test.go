package report

import (
	"math"
	"strings"
	"testing"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// around makes levels 10, 20, … with a TTFT p95 whose interval is ± the given percentage.
func around(name string, percent float64, values ...float64) figures.Series {
	s := figures.Series{Name: name}
	for i, v := range values {
		l := level(float64(10*(i+1)), nil)
		l.Figures[figures.TTFTP95] = figures.Figure{Value: v, Low: v * (1 - percent/100), High: v * (1 + percent/100), N: 1000, Quantile: true}
		s.Levels = append(s.Levels, l)
	}
	return s
}

func TestDecide(t *testing.T) {
	base := around("a", 2, 200, 300, 400)
	for _, tt := range []struct {
		name  string
		other figures.Series
		want  comparisonResult
		text  string // of headline and explanation
	}{
		{"better", around("b", 2, 150, 225, 300), resultBetter, "b is better than a: TTFT p95 -25.0% (95% interval -26.2% to -23.8%), the mean of 3 levels."},
		{"worse", around("b", 2, 400, 3000, 4000), resultWorse, "b is worse than a: TTFT p95 ×5.8 (95% interval ×5.8 to ×5.9)"},
		{"both", around("b", 2, 150, 300, 800), resultInconclusive, "the true difference may be more than 5%"},
		{"alike", around("b", 2, 201, 299, 401), resultAlike, "No difference: b against a, TTFT p95 +0.1% (95% interval -1.5% to +1.8%)"},
		{"too noisy to say", around("b", 40, 201, 299, 401), resultInconclusive, "No figure differs beyond noise at most of the levels"},
		{"other levels", figures.Series{Name: "b"}, resultInconclusive, "no level of both has a latency"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := compareSeries(&figures.Study{Series: []figures.Series{base, tt.other}}, tt.other, Compliance{Capacity: runfile.Capacity{Variant: "a"}}, Compliance{Capacity: runfile.Capacity{Variant: "b"}})
			if text := d.headline() + " " + d.explanation(); d.Verdict != tt.want || !strings.Contains(strings.ToLower(text), strings.ToLower(tt.text)) {
				t.Errorf("%s: %s; want %s: %s", d.Verdict, text, tt.want, tt.text)
			}
		})
	}
	without := compareSeries(&figures.Study{Series: []figures.Series{series(figures.TTFTP95, 100), series(figures.TTFTP95, 100)}},
		series(figures.TTFTP95, 100), Compliance{}, Compliance{})
	if without.Verdict != resultInconclusive || !strings.Contains(without.headline(), "no 95% interval is known") {
		t.Errorf("two equal figures without intervals: %+v", without)
	}
}

// TestGroup: warnings with one cause are one group, worst first.
func TestGroup(t *testing.T) {
	s := &figures.Study{Series: []figures.Series{{Name: "a", Levels: []figures.Level{
		level(1, map[figures.Metric]float64{figures.AddedTTFTP99: 500}),
		level(2, map[figures.Metric]float64{figures.AddedTTFTP99: 9300, figures.ErrorPct: 3}),
		level(3, map[figures.Metric]float64{figures.AddedTTFTP99: 700}),
	}}}}
	for i := range s.Series[0].Levels {
		s.Series[0].Levels[i].Warnings = []string{"repetition 1 said 12.5 twice"}
	}
	groups := groupWarnings(studyWarnings(s))
	if len(groups) != 3 || len(groups[0]) != 3 || len(groups[1]) != 3 || len(groups[2]) != 1 {
		t.Fatalf("groups %v", groups)
	}
	if worst := groups[0][0].String(); !strings.HasPrefix(worst, "concurrency 2: the prober was late: in 1 turn of 100 it may have added 9300 ms") {
		t.Errorf("the worst is %q", worst)
	}
}

// TestCapacityIsBetweenEnds: Least is proven, Most is judged and not proven to be missed.
func TestCapacityIsBetweenEnds(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		levels      []float64
		least, most float64
	}{
		{[]float64{500, 600, 5000}, 20, 20}, {[]float64{500, nan, 5000}, 10, 10}, {[]float64{5000}, 0, 0},
		{[]float64{500, 600}, 20, 20}, {[]float64{nan}, 0, 0},
	} {
		if c := comply(slos()[:1], series(figures.TTFTP99, tt.levels...)); c.Least != tt.least || c.Most != tt.most {
			t.Errorf("%v: %g to %g, want %g to %g", tt.levels, c.Least, c.Most, tt.least, tt.most)
		}
	}
}
