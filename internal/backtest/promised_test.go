package backtest

import (
	"strings"
	"testing"
)

func TestWritePromised(t *testing.T) {
	v := func(seconds float64) *float64 { return &seconds }
	score := func(model string, median, resolve float64) Score {
		return Score{
			Model: model, Rules: "synthetic", HealthyDays: 360, HealthyPages: 6, FalsePer30Days: v(0.5),
			Faults: []FaultScore{
				{Fault: "TTFT ×3", Incidents: 100, Recall: 1, MedianToPage: v(median), P90ToPage: v(2 * median), MedianToResolve: v(resolve)},
				{Fault: "TTFT ×1.3", Incidents: 50, Recall: 0.9, MedianToResolve: v(60)},
			},
		}
	}
	alert := score("quiet", 1, 1)
	alert.Alert = "One"
	r := Report{Scores: []Score{{Model: "quiet", Rules: "theirs"}, alert, score("quiet", 120, 300), score("typical", 150, 30)}}
	var b strings.Builder
	if err := r.WritePromised(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| False pages per 30 days | ≤ 0.5 quiet, ≤ 1 typical | 0.50 (6 in 360 days) | 0.50 (6 in 360 days) |",
		"| TTFT ×3, median to page | ≤ 2.5 min | 2.0 min | 2.5 min |",
		"| TTFT ×3, p90 | ≤ 4 min | 4.0 min | 5.0 min |",
		"| TTFT ×1.3, median | ≤ 35 min | – | – |",
		"| TTFT ×1.3, recall | ≥ 95 % quiet, ≥ 70 % typical | 90 % of 50 | 90 % of 50 |",
		"| Outage, median (p90) | ≤ 2 min | – (–) | – (–) |",
		"| Resolved after the end, highest median of all faults | ≤ 10 min | 5.0 min | 1.0 min |",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
	r.Scores = r.Scores[:3]
	if err := r.WritePromised(&b); err == nil || !strings.Contains(err.Error(), "typical") {
		t.Errorf("without a model: %v", err)
	}
}
