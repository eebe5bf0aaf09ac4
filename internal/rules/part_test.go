package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/promtest"
)

// TestLikelyPart evaluates the query of the annotation on what a prober exports.
func TestLikelyPart(t *testing.T) {
	type facts struct {
		ttft, tpot                    float64 // ratios to the baseline
		connect, queuePrefill, decode float64 // seconds more than usual
	}
	for name, tt := range map[string]struct {
		facts
		want string
	}{
		"decode":                            {facts{1.4, 3, 0, .1, 5}, "decode"},
		"prompts that delay all tokens":     {facts{4, 1.5, 0, 1.2, 2}, "queue_prefill"},
		"a drafter that costs both":         {facts{1.39, 1.49, 0, .08, 1.8}, "decode"},
		"the same, and the wait rose more":  {facts{1.5, 1.4, 0, .1, 1.6}, "decode"},
		"connections":                       {facts{8, 1, 2, .01, .1}, "connect"},
		"errors at once leave no wait":      {facts{2.5, 1, 0, .01, .1}, ""},
		"no tokens at all, so no more TPOT": {facts{9, 0, 0, 9.8, 0}, "queue_prefill"},
		"all is as usual":                   {facts{1, 1, -.01, .01, -.1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := promtest.New(t, []byte("groups: []\n"), time.Minute)
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			var samples []promtest.Sample
			add := func(metric, label, value string, v float64) {
				samples = append(samples, promtest.Sample{Value: v, Labels: labels.FromStrings(
					model.MetricNameLabel, metric, metrics.LabelTarget, "a", metrics.LabelWorkload, "chat", metrics.LabelTurn, "first", label, value)})
			}
			add(RecordGeomean(shortWindow), metrics.LabelSignal, "ttft", tt.ttft)
			if tt.tpot > 0 {
				add(RecordGeomean(shortWindow), metrics.LabelSignal, "tpot", tt.tpot)
			}
			add(metrics.Baseline, metrics.LabelSignal, "ttft", .2)
			add(metrics.Baseline, metrics.LabelSignal, "tpot", .04)
			for part, v := range map[string]float64{"connect": tt.connect, "queue_prefill": tt.queuePrefill, "decode": tt.decode} {
				add(metrics.Excess, metrics.LabelPart, part, v)
			}
			server.Scrape(at, "prober", samples)
			var args []any
			for range strings.Count(likelyPartQuery(), "%q") / len(perTurn()) {
				args = append(args, "a", "chat", "first")
			}
			got := slices.Collect(maps.Keys(server.Query(fmt.Sprintf(likelyPartQuery(), args...), at)))
			if len(got) > 1 || strings.Join(got, "") != series(tt.want) {
				t.Errorf("the likely part is %v, want %q", got, tt.want)
			}
		})
	}
}

// series is how a query's result with one part is written.
func series(part string) string {
	if part == "" {
		return ""
	}
	return fmt.Sprintf("{part=%q}", part)
}
