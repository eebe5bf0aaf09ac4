package simulate

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Stats are a deployment's counts since its start.
type Stats struct {
	// Requests are the chat requests with a good key, whatever became of them.
	Requests int
	// Running are being answered now; Waiting hang.
	Running, Waiting int
	// PromptTokens of the answered requests; CachedTokens of them came from
	// the prefix cache. OutputTokens were generated.
	PromptTokens, CachedTokens, OutputTokens int
	// Finished counts answers that ended, by reason: stop, length, error (a
	// fault in mid-stream) and abort (the client went).
	Finished map[string]int
	// TraceID is the trace id of the last valid traceparent header, "" if none.
	TraceID string
}

// meter counts what a deployment does.
type meter struct {
	ttft, itl, e2e *prometheus.HistogramVec

	mu    sync.Mutex
	stats Stats
	held  int // tokens of the running requests
}

// labels are those of every vLLM series.
var labels = []string{"model_name", "engine"}

// engineID is the value of the engine label: there is one engine.
const engineID = "0"

func newMeter() *meter {
	histogram := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	// The buckets are vLLM's own, coarse as they are: what reads them should
	// meet the same resolution here.
	return &meter{
		stats: Stats{Finished: map[string]int{}},
		ttft: histogram("vllm:time_to_first_token_seconds", "Time from arrival to the first token.",
			.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		itl: histogram("vllm:inter_token_latency_seconds", "Time between two token events of an answer.",
			.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
		e2e: histogram("vllm:e2e_request_latency_seconds", "Time from arrival to the end of the answer.",
			.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680),
	}
}

// read returns a copy of the counts.
func (m *meter) read() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Finished = maps.Clone(s.Finished)
	return s
}

// requested counts a chat request. Its traceparent header may be missing or
// invalid, and is then ignored, as W3C Trace Context wants it.
func (m *meter) requested(traceparent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Requests++
	if id, ok := traceID(traceparent); ok {
		m.stats.TraceID = id
	}
}

// waiting adds to the requests that hang.
func (m *meter) waiting(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Waiting += n
}

// began counts a turn's prompt.
func (m *meter) began(t *turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Running++
	m.stats.PromptTokens += t.prompt.tokens
	m.stats.CachedTokens += t.cached
	m.held += t.prompt.tokens
}

// generated counts the tokens of an event, and the time since the one before,
// or since the arrival.
func (m *meter) generated(t *turn, n int, since time.Duration) {
	series := m.itl
	if t.sent == 0 {
		series = m.ttft
	}
	series.WithLabelValues(t.options.Model, engineID).Observe(since.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.OutputTokens += n
	m.held += n
}

// ended counts the end of a turn that began.
func (m *meter) ended(t *turn, reason string) {
	if reason == t.finish {
		m.e2e.WithLabelValues(t.options.Model, engineID).Observe(time.Since(t.arrived).Seconds())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Running--
	m.stats.Finished[reason]++
	m.held -= t.prompt.tokens
}

// traceID returns the trace id of a valid traceparent header.
func traceID(traceparent string) (string, bool) {
	parts := strings.Split(traceparent, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 {
		return "", false
	}
	id := parts[1]
	if strings.Trim(id, "0123456789abcdef") != "" || strings.Trim(id, "0") == "" {
		return "", false
	}
	return id, true
}
