package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"synthetic/internal/probe"
)

// formats returns Accept headers: protobuf, which Prometheus 3 sends for native histograms,
// OpenMetrics otherwise, and the header of a plain text scraper.
func formats() map[string]string {
	return map[string]string{
		"text":        "text/plain;version=1.0.0;escaping=allow-utf-8",
		"openmetrics": "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3",
		"protobuf":    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3",
	}
}

// busyRecorder has n targets, each with every series in use: about fifty turns in the last
// minute, with log-normal latencies (σ = 0.5) and a hundred gaps each. One turn in ten failed.
func busyRecorder(n int) *testRecorder {
	c := &clock{start}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("deployment-%03d", i)
	}
	r := newTestRecorder(c, names...)
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range 50 {
		c.now = start.Add(time.Duration(step) * time.Second)
		for _, name := range names {
			busyTurn(r, rng, name, step, c.now)
		}
	}
	return r
}

func busyTurn(r *testRecorder, rng *rand.Rand, name string, step int, now time.Time) {
	spread := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * math.Exp(rng.NormFloat64()/2))
	}
	kind := probe.TurnKinds()[step%2]
	t := turn(name, kind, now, spread(400*time.Millisecond), 0, 0)
	for range 100 {
		t.Gaps = append(t.Gaps, spread(25*time.Millisecond))
	}
	t.TPOT = probe.Some(spread(25 * time.Millisecond))
	t.Phases.DNS = probe.Some(spread(time.Millisecond))
	t.Phases.Connect = probe.Some(spread(time.Millisecond))
	t.Phases.TLS = probe.Some(spread(5 * time.Millisecond))
	if step%10 == 9 {
		t.Outcome = probe.Failures()[rng.IntN(len(probe.Failures()))]
	}
	r.Observe(probe.ConversationStart{Target: name, Workload: "chat"})
	run(r, t)
	r.Observe(probe.Conversation{Target: name, Workload: "chat",
		Scheduled: t.Scheduled, End: t.End, Outcome: t.Outcome, Turns: 1})
}
