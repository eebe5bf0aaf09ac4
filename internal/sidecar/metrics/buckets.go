package metrics

import "time"

// Classic buckets, for Prometheus servers that do not take native histograms.
// Each bucket is a line per series and scrape, so there are few, dense where
// the objectives of such services usually lie.

// tokenBuckets are for the time to first token: 10 ms … 120 s.
func tokenBuckets() []time.Duration {
	return seconds(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 120)
}

// paceBuckets are for the time per output token and the gaps: 1 ms … 2 s.
func paceBuckets() []time.Duration {
	return seconds(0.001, 0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.1, 0.25, 2)
}

// turnBuckets are for whole turns: 0.1 … 600 s.
func turnBuckets() []time.Duration {
	return seconds(0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 200, 600)
}

// conversationBuckets are for whole conversations, think times included.
func conversationBuckets() []time.Duration {
	return seconds(1, 5, 15, 30, 60, 120, 300, 900, 3600)
}

// phaseBuckets tell a local dial from a queue in front of the engine.
func phaseBuckets() []time.Duration {
	return seconds(0.001, 0.005, 0.02, 0.1, 1, 10)
}

// lagBuckets are decades: lags are looked at for their order of magnitude.
func lagBuckets() []time.Duration {
	return seconds(1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10)
}

func seconds(bounds ...float64) []time.Duration {
	ds := make([]time.Duration, len(bounds))
	for i, s := range bounds {
		ds[i] = time.Duration(s*1e9 + 0.5)
	}
	return ds
}

// layouts are the shapes of all histograms, shared by all jobs.
type layouts struct {
	token, answer, pace, gap, turn, conversation, phase, lag *layout
}

// newLayouts keeps exemplars where a person would want to see a slow turn's
// trace.
func newLayouts() *layouts {
	return &layouts{
		token:        newLayout(tokenBuckets(), true),
		answer:       newLayout(tokenBuckets(), false),
		pace:         newLayout(paceBuckets(), true),
		gap:          newLayout(paceBuckets(), false),
		turn:         newLayout(turnBuckets(), true),
		conversation: newLayout(conversationBuckets(), false),
		phase:        newLayout(phaseBuckets(), false),
		lag:          newLayout(lagBuckets(), false),
	}
}
