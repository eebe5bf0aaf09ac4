package probe_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// TestTracedConversationIsOneTrace checks that requests are marked as sampled if and only if their
// spans are exported, with the IDs of those spans.
func TestTracedConversationIsOneTrace(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, closeHead + hello + finish + done}}})
	o, marked := options(s.addr), true
	o.Traced = func() bool { return marked }
	results, sum := converse(t.Context(), t, o, 2)
	if len(results) != 2 || sum.TraceID == "" || sum.SpanID == "" {
		t.Fatalf("%d turns, %+v", len(results), sum)
	}
	for i, r := range results {
		req, _ := s.request(i)
		if got := req.Header.Get("Traceparent"); got != fmt.Sprintf("00-%s-%s-01", sum.TraceID, r.SpanID) || r.TraceID != sum.TraceID || r.ParentSpanID != sum.SpanID {
			t.Errorf("turn %d sent %q: %q within %q of %q", i+1, got, r.SpanID, r.ParentSpanID, r.TraceID)
		}
	}
	if results[0].SpanID == results[1].SpanID || results[0].SpanID == sum.SpanID {
		t.Error("spans share an id")
	}
	marked = false
	r := once(t, o)
	req, _ := s.request(2)
	if got := req.Header.Get("Traceparent"); got != fmt.Sprintf("00-%s-%s-00", r.TraceID, r.SpanID) || r.ParentSpanID != "" {
		t.Errorf("sent %q without an export, %+v", got, r)
	}
}

// TestCacheSalt checks which requests share a prefix cache.
func TestCacheSalt(t *testing.T) {
	tests := map[target.Salt]struct{ sent, ofJob bool }{
		"": {}, target.SaltNone: {}, target.SaltJob: {true, true}, target.SaltConversation: {true, false},
	}
	for salt, want := range tests {
		t.Run(string(salt), func(t *testing.T) {
			s := play(t, &scripted{steps: []step{{0, closeHead + hello + finish + done}}})
			o := options(s.addr)
			o.Target.CacheSalt, o.Target.Extra = salt, map[string]any{"priority": 1}
			p, err := probe.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			c := workload.Conversation{Turns: 2, Opening: []workload.Message{{Role: "user", Content: "Hello"}}, Followups: []string{"Why?"}}
			for range 2 {
				p.Converse(t.Context(), probe.Plan{Conversation: c, Model: "m"}, &recorder{})
			}
			var salts []string
			for i := range 4 {
				var body struct {
					Salt     string `json:"cache_salt"`
					Priority int
				}
				_, sent := s.request(i)
				if err := json.Unmarshal([]byte(sent), &body); err != nil || body.Priority != 1 {
					t.Fatalf("%v: %s", err, sent)
				}
				salts = append(salts, body.Salt)
			}
			if (salts[0] != "") != want.sent || salts[0] != salts[1] || salts[2] != salts[3] || want.sent && (salts[0] == salts[2]) != want.ofJob {
				t.Errorf("salts %q", salts)
			}
			if len(o.Target.Extra) != 1 {
				t.Errorf("the target's fields were changed: %v", o.Target.Extra)
			}
		})
	}
}
