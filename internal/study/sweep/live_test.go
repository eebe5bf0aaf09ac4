package sweep

import (
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	pmodel "github.com/prometheus/common/model"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/study/runfile"
)

// scrape returns the metrics page.
func scrape(x *Exporter) string {
	w := httptest.NewRecorder()
	x.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func answered(outcome probe.Outcome) probe.Result {
	now := time.Now()
	return probe.Result{
		Kind: probe.First, Outcome: outcome, Sent: now, End: now.Add(time.Second), Gaps: []time.Duration{20 * time.Millisecond, 30 * time.Millisecond},
		TTFT: probe.Some(200 * time.Millisecond), TPOT: probe.Some(20 * time.Millisecond), OutputTokens: probe.Some(4),
		Recall: probe.Recall{Result: recall.Wrong, Depth: probe.Some(2000), Cached: probe.Some(true)},
	}
}

// TestCatalog: a level of a shard exports the catalog with its labels.
func TestCatalog(t *testing.T) {
	x := NewExporter("3")
	l := x.Level("kv", 12.5, runfile.Rate)
	x.Progress(Progress{Number: 1, Total: 2, Phase: PhaseMeasure})
	l.Conversation(1)
	l.Observe(probe.Start{})
	l.Observe(answered(probe.Success))
	parser := expfmt.NewTextParser(pmodel.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(scrape(x)))
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string][]string{}, map[string][]string{}
	for _, m := range metrics.StudyCatalog() {
		slices.Sort(m.Labels)
		want[m.Name+" "+string(m.Kind)+" "+m.Help] = m.Labels
	}
	for name, f := range families {
		if !strings.HasPrefix(name, "synthetic_") {
			continue
		}
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		slices.Sort(labels)
		got[name+" "+strings.ToLower(f.GetType().String())+" "+f.GetHelp()] = labels
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("catalog and exposition differ (-catalog +exported):\n%s", diff)
	}
}

// TestFigures: levels have separate series, the prober's own faults are no latencies, and
// nothing between two levels belongs to one.
func TestFigures(t *testing.T) {
	x := NewExporter("0")
	first := x.Level("kv", 2, runfile.Concurrency)
	var talking sync.WaitGroup
	for range 8 { // concurrently, as conversations do
		talking.Go(func() {
			for _, outcome := range []probe.Outcome{probe.Success, probe.Stall, probe.NotSent} {
				first.Conversation(1)
				first.Observe(probe.Start{})
				first.Observe(answered(outcome))
				first.Conversation(-1)
			}
		})
	}
	talking.Wait()
	x.Progress(Progress{Number: 1, Total: 3, Phase: phaseDrain, Left: 90 * time.Second})
	page := scrape(x)
	for _, want := range []string{
		`synthetic_study_phase{level="2",phase="letting turns end",shard="0",variant="kv"} 1`,
		`synthetic_study_load{kind="concurrency",level="2",shard="0",variant="kv"} 2`,
		`synthetic_study_conversations_started_total{level="2",shard="0",variant="kv"} 24`,
		`synthetic_study_conversations_in_flight{level="2",shard="0",variant="kv"} 0`,
		`synthetic_study_turns_in_flight{level="2",shard="0",variant="kv"} 0`,
		`synthetic_study_turns_total{level="2",outcome="not_sent",shard="0",turn="first",variant="kv"} 8`,
		`synthetic_study_turns_total{level="2",outcome="stall",shard="0",turn="first",variant="kv"} 8`,
		`synthetic_study_ttft_seconds_count{level="2",shard="0",turn="first",variant="kv"} 16`,
		`synthetic_study_turn_duration_seconds_count{level="2",shard="0",turn="first",variant="kv"} 8`,
		`synthetic_study_itl_seconds_count{level="2",shard="0",turn="first",variant="kv"} 16`,
		`synthetic_study_output_tokens_total{level="2",shard="0",turn="first",variant="kv"} 64`,
		`synthetic_study_recall_turns_total{cached="yes",depth="1k-8k",level="2",result="wrong",shard="0",variant="kv"} 16`,
		`synthetic_study_levels_done{shard="0"} 0`, `synthetic_study_levels_to_come{shard="0"} 3`, `synthetic_study_left_seconds{shard="0"} 90`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("the page has no %s", want)
		}
	}
	x.Progress(Progress{Number: 2, Total: 3, Phase: phasePause})
	x.Level("kv", 4, runfile.Concurrency)
	page = scrape(x)
	for _, want := range []string{`synthetic_study_phase{level="",phase="pausing",shard="0",variant=""} 1`, `synthetic_study_levels_done{shard="0"} 1`, `synthetic_study_levels_to_come{shard="0"} 2`} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("between two levels, the page has no %s", want)
		}
	}
	if n := strings.Count(page, "\nsynthetic_study_phase{") + strings.Count(page, "\nsynthetic_study_load{"); n != 2 {
		t.Errorf("%d levels and phases are under way at once", n)
	}
}

// TestForeignAnswersHaveOneSeries: it exists before the first foreign answer, and counts those of every depth.
func TestForeignAnswersHaveOneSeries(t *testing.T) {
	x := NewExporter("0")
	s := &sweep{Options: Options{Exporter: x, Plan: Plan{Kind: runfile.Concurrency}}}
	s.Plan.Workload.Recall = 1
	l := s.levelSeries("kv", 2)
	for _, want := range []string{"0", "1"} {
		line := `synthetic_study_recall_turns_total{cached="unknown",depth="unknown",level="2",result="foreign",shard="0",variant="kv"} ` + want
		if page := scrape(x); !strings.Contains(page, line+"\n") || strings.Count(page, `result="foreign"`) != 1 {
			t.Errorf("the page has no %s, or other series of foreign answers:\n%s", line, page)
		}
		l.Observe(probe.Result{Outcome: probe.Success, Recall: probe.Recall{Result: recall.Foreign, Depth: probe.Some(2000), Cached: probe.Some(true)}})
	}
	s.Plan.Workload.Recall = 0
	if s.levelSeries("kv", 4); strings.Contains(scrape(x), `level="4",result="foreign"`) {
		t.Error("a level without recall has a series of foreign answers")
	}
}
