package metrics

import (
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// gaugesOf returns the values of a family's series by the value of a label.
func gaugesOf(t *testing.T, r *testRecorder, family, label string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() == family {
			for _, m := range f.Metric {
				out[valueOf(m, label)] = m.GetGauge().GetValue()
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

// TestBenchmarkFollowsReloads checks that a reload with another benchmark, or none, replaces
// the exported figures and the baseline.
func TestBenchmarkFollowsReloads(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "east")
	if got := gaugesOf(t, r, expected, labelStatistic); len(got) != 3 || got[geomean] != 0.4 || got["p50"] != 0.39 || got["p95"] != 0.7 {
		t.Errorf("expected seconds %v, want geomean 0.4, p50 0.39 and p95 0.7", got)
	}
	if got := gaugesOf(t, r, expectedTurns, LabelSignal); len(got) != 1 || got["ttft"] != 300 {
		t.Errorf("expected turns %v, want 300 for ttft alone", got)
	}
	if got := gaugesOf(t, r, expectedInfo, "level"); got["20"] != 1 {
		t.Errorf("info by level %v, want level 20", got)
	}

	s := jobs("east")
	s[0].Benchmark = &sink.Benchmark{
		Run: "weekly", Variant: "kv_aware", Level: 30, Pooled: true,
		Figures: sink.Figures{{{Quantiles: [3]probe.Opt[time.Duration]{probe.Some(time.Second)}}}},
	}
	apply(r, s)
	if got := gaugesOf(t, r, expected, labelStatistic); len(got) != 1 || got["p50"] != 1 {
		t.Errorf("after the reload: expected seconds %v, want p50 1 alone", got)
	}
	if got := gaugesOf(t, r, expectedInfo, "turns"); len(got) != 1 || got["pooled"] != 1 {
		t.Errorf("after the reload: info by turns %v, want pooled alone", got)
	}

	s[0].Benchmark = nil
	apply(r, s)
	for _, family := range []string{expected, expectedTurns, expectedInfo} {
		if got := gaugesOf(t, r, family, LabelTarget); len(got) != 0 {
			t.Errorf("without a benchmark %s is exported: %v", family, got)
		}
	}
}
