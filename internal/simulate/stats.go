package simulate

import (
	"maps"
	"strings"
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

	held int // tokens of the running requests
}

// Stats returns what the deployment has done so far.
func (d *Deployment) Stats() (now Stats) {
	d.count(func(s *Stats) {
		now = *s
		now.Finished = maps.Clone(s.Finished)
	})
	return now
}

// count brings the counts up to date.
func (d *Deployment) count(change func(*Stats)) {
	d.counting.Lock()
	defer d.counting.Unlock()
	change(&d.counts)
}

// traceID returns the trace id of a traceparent header. One that is missing or
// invalid is to be ignored, as W3C Trace Context wants it.
func traceID(traceparent string) (string, bool) {
	parts := strings.Split(traceparent, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 {
		return "", false
	}
	id := parts[1]
	return id, strings.Trim(id, "0123456789abcdef") == "" && strings.Trim(id, "0") != ""
}
