package probe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// TestConversationIsOneTrace checks that all requests of a conversation have one session and one trace, with the span of
// their turn, and that another conversation has others. They are marked as sampled if and only if spans are exported.
func TestConversationIsOneTrace(t *testing.T) {
	r := newWeb(t, func(int, http.Header) string { return answer })
	o, spans := r.options(target.DefaultSession()), map[string]bool{}
	for n, traced := range []bool{true, false} {
		o.Traced = func() bool { return traced }
		results, sum := converse(t.Context(), t, o, 3)
		ids, traces := r.sent("X-Session-Id")[3*n:], r.sent("Traceparent")[3*n:]
		if len(results) != 3 || len(sum.TraceID) != 32 || (sum.SpanID != "") != traced {
			t.Fatalf("%d turns, %+v", len(results), sum)
		}
		for i, turn := range results {
			spans[turn.SpanID], spans[turn.TraceID] = true, true
			want := fmt.Sprintf("00-%s-%s-%s", sum.TraceID, turn.SpanID, map[bool]string{true: "01", false: "00"}[traced])
			if traces[i] != want || ids[i] != sum.TraceID || turn.TraceID != sum.TraceID || turn.ParentSpanID != sum.SpanID {
				t.Errorf("turn %d sent %q in the session %q; %+v of %+v", i+1, traces[i], ids[i], turn.Asked, sum)
			}
		}
		if spans[sum.SpanID] {
			t.Error("spans share an id")
		}
	}
	if len(spans) != 8 {
		t.Errorf("%d ids of six turns in two conversations", len(spans))
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
