package simulate

import (
	"maps"
	"strings"
	"sync"
	"time"
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

// meter counts what a deployment does. Its histograms are those of a
// deployment without a cluster.
type meter struct {
	vllmHistograms

	mu    sync.Mutex
	stats Stats
	held  int // tokens of the running requests
}

func newMeter() *meter {
	return &meter{vllmHistograms: newVLLMHistograms(), stats: Stats{Finished: map[string]int{}}}
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

// began counts a turn that is being answered.
func (m *meter) began(t *turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Running++
	m.held += t.promptTokens
}

// looked counts a turn's prompt when it is known how much of it was cached.
func (m *meter) looked(t *turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.PromptTokens += t.promptTokens
	m.stats.CachedTokens += t.cached
}

// generated counts the tokens of an event, and the time since the one before,
// or since the arrival.
func (m *meter) generated(t *turn, n int, since time.Duration) {
	if t.driver == nil {
		series := m.itl
		if t.sent == 0 {
			series = m.ttft
		}
		series.WithLabelValues(t.options.Model, engineID).Observe(since.Seconds())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.OutputTokens += n
	m.held += n
}

// ended counts the end of a turn that began.
func (m *meter) ended(t *turn, reason string) {
	if t.driver == nil && reason == t.finish {
		m.e2e.WithLabelValues(t.options.Model, engineID).Observe(time.Since(t.arrived).Seconds())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Running--
	m.stats.Finished[reason]++
	m.held -= t.promptTokens + t.sent
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
