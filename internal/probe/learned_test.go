package probe_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestLimitIsLearnedOnce checks that the probers of a target learn the name of the limit from one
// rejection, report it once, and measure only the accepted request.
func TestLimitIsLearnedOnce(t *testing.T) {
	s := &strictServer{events: said("stop", contentDelta), refuse: func(a asked) string {
		if a.MaxTokens > 0 {
			return "Unsupported parameter: 'max_tokens' is not supported with this model."
		}
		return ""
	}}
	web := httptest.NewServer(s)
	defer web.Close()
	o := options(strings.TrimPrefix(web.URL, "http://"))
	o.Workload.MaxOutputTokens, o.Learned = 50, &probe.Learned{}
	sink := &learner{}
	for range 2 {
		p, err := probe.New(o)
		if err != nil {
			t.Fatal(err)
		}
		c := workload.Conversation{Turns: 1, Opening: []workload.Message{{Role: "user", Content: "Hello."}}}
		p.Converse(t.Context(), probe.Plan{Conversation: c, Scheduled: time.Now(), Model: "m"}, sink)
		p.Close()
	}
	web.Close() // waits for its handlers
	if len(s.asked) != 3 || sink.learned != 1 || len(sink.results) != 2 || sink.started != 2 {
		t.Fatalf("%d requests, %d times learned, %d turns of %d", len(s.asked), sink.learned, len(sink.results), sink.started)
	}
	for i, r := range sink.results {
		if r.Outcome != probe.Success || r.Sent.Before(r.Scheduled) {
			t.Errorf("turn %d: %s %q, sent %v before it was due", i, r.Outcome, r.Err, r.Scheduled.Sub(r.Sent))
		}
	}
}

// learner is a recorder that counts FieldsLearned events.
type learner struct {
	recorder
	learned int
}

func (l *learner) Observe(e probe.Event) {
	if _, ok := e.(probe.FieldsLearned); ok {
		l.learned++
	}
	l.recorder.Observe(e)
}
