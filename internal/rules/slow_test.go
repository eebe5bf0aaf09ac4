package rules

import (
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/metrics"
	"synthetic/internal/promtest"
)

// TestFirstSecondsAreNoLastingLevel: a process that comes with a baseline has a
// mean of few turns at first, and its minimum over ten minutes is that of the
// seconds that there are.
func TestFirstSecondsAreNoLastingLevel(t *testing.T) {
	server := promtest.New(t, []byte("groups: []\n"), time.Minute)
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const step = 15 * time.Second
	fired := time.Duration(-1)
	for after := time.Duration(0); after < 15*time.Minute; after += step {
		var samples []promtest.Sample
		for metric, v := range map[string]float64{RecordGeomean(slowWindow): 1.5, RecordGeomean(shortWindow): 1.5, RecordSlowThreshold: 1.2} {
			samples = append(samples, promtest.Sample{Value: v, Labels: labels.FromStrings(
				model.MetricNameLabel, metric, metrics.LabelTarget, "a", metrics.LabelWorkload, "chat",
				metrics.LabelTurn, "first", metrics.LabelSignal, "ttft")})
		}
		at := begin.Add(after)
		server.Scrape(at, "prober", samples)
		if fired < 0 && len(server.Query(slowRegression().expr, at)) > 0 {
			fired = after
		}
	}
	if fired < slowHold || fired > slowHold+time.Minute {
		t.Errorf("a level that is there from the start fires after %v, want after %v", fired, slowHold)
	}
}
