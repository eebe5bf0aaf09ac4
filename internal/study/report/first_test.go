package report_test

import (
	"slices"
	"strings"
	"testing"

	"synthetic/internal/draw"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
)

// TestFirstScreen: a report begins with its answer and the picture of it.
func TestFirstScreen(t *testing.T) {
	single := func(change func(*figures.Level)) *figures.Study {
		s := figures.FromRuns([]*runfile.Run{reporttest.Run(reporttest.Options{Seed: 2, Levels: []float64{40, 80}})})
		for i := range s.Series[0].Levels {
			change(&s.Series[0].Levels[i])
		}
		return s
	}
	missed := &runfile.Verdict{Standing: runfile.Missed, Lost: []string{"ttft"}}
	for name, tt := range map[string]struct {
		s                   *figures.Study
		word, text, picture string
	}{
		"better":     {routings(), "better", "kv_aware is better than round_robin: TTFT p95 -30", "ttft.svg"},
		"meets":      {single(func(*figures.Level) {}), "meets its SLOs", "up to concurrency 80.", "ttft.svg"},
		"misses":     {single(func(l *figures.Level) { l.Verdict = missed }), "misses its SLOs", "at no concurrency", "ttft.svg"},
		"not judged": {read(t, "000"), "not judged", "scales to concurrency 60", "ttft.svg"},
		"the prober was late": {single(func(l *figures.Level) {
			l.Verdict, l.Spoiled = &runfile.Verdict{Standing: runfile.Undecided}, true
		}), "inconclusive", "could not be judged by TTFT p99 < 1000ms", "ttft.svg"},
		"speed decides nothing": {throughput(), "better", "b is better than a: TOPS +50.0%", "pareto.svg"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := report.Build(tt.s)
			if err != nil {
				t.Fatal(err)
			}
			v := d.Verdicts[0]
			if v.Word != tt.word || !strings.Contains(v.Headline, tt.text) || d.Picture == nil || d.Picture.File != tt.picture {
				t.Errorf("%+v with picture %v; want %s: %s, %s", v, d.Picture, tt.word, tt.text, tt.picture)
			}
			text, _ := d.Markdown()
			_, after, ok := strings.Cut(string(text), "\n\n**")
			if !ok || strings.Index(after, "](") > strings.Index(after, "## ") {
				t.Errorf("the answer and its picture are not above the rest:\n%.900s", text)
			}
		})
	}
}

// throughput is a study in which that alone tells two series apart.
func throughput() *figures.Study {
	s := &figures.Study{Title: "throughput"}
	for i, name := range []string{"a", "b"} {
		series := figures.Series{Name: name}
		for _, at := range []float64{10, 20} {
			series.Levels = append(series.Levels, figures.Level{At: at, Figures: map[figures.Metric]figures.Figure{
				figures.TPOTP50: figures.Plain(20 + at), figures.OutputTokensPerSecond: figures.Plain(at * (10 + 5*float64(i)))}})
		}
		s.Series = append(s.Series, series)
	}
	return s
}

// TestTheQuantileOfTheSLOIsDrawn: where the line of an SLO is, so are the values
// that it is of.
func TestTheQuantileOfTheSLOIsDrawn(t *testing.T) {
	d, err := report.Build(routings())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range d.Picture.Chart.Series {
		names = append(names, s.Name)
	}
	if marks := d.Picture.Chart.Marks; marks[0].Text != "SLO TTFT p99 < 1000ms" || !marks[0].Limit || !slices.Contains(names, "kv_aware p99") || len(names) != 4 {
		t.Errorf("marks %+v beside %q", marks, names)
	}
	odd := routings()
	odd.Objectives[0].Share = 75
	if d, err = report.Build(odd); err != nil || !slices.ContainsFunc(d.Picture.Chart.Series, func(s draw.Series) bool { return s.Name == "kv_aware p75" }) {
		t.Errorf("%v: the p75 of its SLO is not drawn", err)
	}
	s := routings() // no figure is known that the SLO is of
	for _, series := range s.Series {
		for _, l := range series.Levels {
			delete(l.Figures, figures.TTFTP99)
		}
	}
	d, err = report.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Picture.Chart.Marks {
		if strings.HasPrefix(m.Text, "SLO TTFT") {
			t.Errorf("the line of an SLO stands in a picture of other values: %+v", d.Picture.Chart.Marks)
		}
	}
}
