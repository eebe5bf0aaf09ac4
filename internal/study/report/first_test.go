package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/chart"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
)

// TestFirstScreen: a report begins with its answer and a picture.
func TestFirstScreen(t *testing.T) {
	single := func(change func(*figures.Level)) *figures.Study {
		s := figures.FromRuns([]*runfile.Run{reporttest.Run(reporttest.Options{Seed: 2, Levels: []float64{40, 60}})})
		for i := range s.Series[0].Levels {
			change(&s.Series[0].Levels[i])
		}
		return s
	}
	missed := &runfile.LevelVerdict{Standing: runfile.Missed, Lost: []string{"ttft"}}
	for name, tt := range map[string]struct {
		s                   *figures.Study
		word, text, picture string
	}{
		"better":     {quicker(), "better", "kv_aware is better than round_robin: TTFT p95 -29.5% (95% interval -30.7% to -28.2%), the mean of 2 levels.", "ttft.svg"},
		"meets":      {single(func(*figures.Level) {}), "meets its SLOs", "up to concurrency 60.", "ttft.svg"},
		"misses":     {single(func(l *figures.Level) { l.Verdict = missed }), "misses its SLOs", "not even at concurrency 40", "ttft.svg"},
		"not judged": {read(t, "000"), "not judged", "scales to concurrency 60", "ttft.svg"},
		"the prober was late": {single(func(l *figures.Level) {
			l.Verdict = runfile.NotJudgedBecause("the prober was the limit")
		}), "inconclusive", "Whether default meets TTFT p99 < 1000ms", "ttft.svg"},
		"speed decides nothing": {throughput(), "better", "b is better than a: Output tokens/s +50.0%", "tops.svg"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := buildDocument(tt.s, true)
			if err != nil {
				t.Fatal(err)
			}
			v := d.Verdicts[0]
			if v.Word != tt.word || !strings.Contains(v.Headline, tt.text) || d.Picture == nil || d.Picture.File != tt.picture {
				t.Errorf("%+v with picture %v; want %s: %s, %s", v, d.Picture, tt.word, tt.text, tt.picture)
			}
			text, _ := d.markdown()
			_, after, ok := strings.Cut(string(text), "\n\n**")
			if !ok || strings.Index(after, "](") > strings.Index(after, "## ") {
				t.Errorf("the answer and its picture are not above the rest:\n%.900s", text)
			}
		})
	}
}

// throughput returns a study in which only the throughput of two series differs.
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

// TestTheQuantileOfTheSLOIsDrawn: a chart with the line of an SLO also shows the quantile of
// the SLO.
func TestTheQuantileOfTheSLOIsDrawn(t *testing.T) {
	s := quicker()
	s.Objectives = s.Objectives[:1]
	for _, share := range []float64{99, 75} { // the tables have no p75
		s.Objectives[0].Share = share
		c := firstPicture(t, s)
		want := []string{"round_robin p50", fmt.Sprintf("round_robin p%g", share), "kv_aware p50", fmt.Sprintf("kv_aware p%g", share)}
		if names := names(c); !slices.Equal(names, want) || !c.Marks[0].Limit || c.Marks[0].Text != fmt.Sprintf("SLO TTFT p%g < 1000ms", share) {
			t.Errorf("marks %+v beside %q, want %q", c.Marks, names, want)
		}
	}
	for _, series := range s.Series {
		for _, l := range series.Levels {
			delete(l.Figures, s.Objectives[0].Metric())
		}
	}
	if c := firstPicture(t, s); slices.ContainsFunc(c.Marks, func(m chart.Mark) bool { return m.Limit }) {
		t.Errorf("the line of an SLO stands in a picture of other values: %+v", c.Marks)
	}
}

// picture returns the first picture of a report.
func firstPicture(t *testing.T, s *figures.Study) chart.Chart {
	t.Helper()
	d, err := buildDocument(s, true)
	if err != nil {
		t.Fatal(err)
	}
	return d.Picture.Chart
}

func names(c chart.Chart) (all []string) {
	for _, s := range c.Series {
		all = append(all, s.Name)
	}
	return all
}

// quicker returns a short run whose second variant is quicker.
func quicker() *figures.Study {
	return figures.FromRuns([]*runfile.Run{reporttest.Run(reporttest.Options{
		Seed: 1, Levels: []float64{40, 60}, Variants: []reporttest.Variant{{Name: "round_robin", Slowdown: 1}, {Name: "kv_aware", Slowdown: 0.7}},
	})})
}
