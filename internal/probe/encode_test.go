package probe_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

var sent = time.Date(2026, 1, 5, 8, 0, 0, 250e6, time.UTC)

// whole returns a turn with all usual values known.
func whole() probe.Result {
	return probe.Result{
		Sent: sent, End: sent.Add(1063456 * time.Microsecond),
		Target: "chat", Workload: "short", Kind: probe.Followup, Outcome: probe.Success,
		TTFT: probe.Some(123456 * time.Microsecond), TPOT: probe.Some(20 * time.Millisecond),
		Tokens: probe.Tokens{PromptTokens: probe.Some(1500), CachedTokens: probe.Some(1200), OutputTokens: probe.Some(48)},
		Asked:  probe.Asked{TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331", Burst: true},
		Server: probe.Server{Session: probe.SessionLost},
	}
}

func TestLine(t *testing.T) {
	const want = `{"at":"2026-01-05T08:00:00.250000Z","target":"chat","workload":"short","turn":"followup","outcome":"success",` +
		`"ttft_seconds":0.123456,"tpot_seconds":0.02,"duration_seconds":1.063456,"prompt_tokens":1500,"cached_prompt_tokens":1200,` +
		`"output_tokens":48,"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331","session":"lost","extra":true,"v":1}` + "\n"
	turn := whole()
	if diff := cmp.Diff(want, string(turn.AppendLine(nil))); diff != "" {
		t.Errorf("the form of a line has changed, which needs another version (-want +got):\n%s", diff)
	}
}

// TestKeys compares the keys of other turns with those of a turn without values.
func TestKeys(t *testing.T) {
	bare := probe.Result{Sent: sent, End: sent.Add(-time.Second), Target: "chat", Workload: "short", Kind: probe.First, Outcome: probe.HTTP5xx}
	for name, tt := range map[string]struct {
		change func(*probe.Result)
		place  []probe.Field
		want   map[string]any
	}{
		"bare":     {func(*probe.Result) {}, nil, nil},
		"odd":      {func(t *probe.Result) { t.Target = "a \"b\"\\\n\u2028é<&>" }, nil, map[string]any{"target": "a \"b\"\\\n\u2028é<&>"}},
		"negative": {func(t *probe.Result) { t.TTFT, t.PromptTokens = probe.Some(-time.Second), probe.Some(-1) }, nil, nil},
		"failed": {func(t *probe.Result) { t.UncachedEstimate, t.Proof = probe.Some(300), probe.Answered },
			nil, map[string]any{"estimated_uncached_tokens": 300.0, "proof": string(probe.Answered)}},
		"gateway": {func(t *probe.Result) {
			t.Gateway = probe.Gateway{Retries: probe.Some(2), Fallbacks: probe.Some(0), Overhead: probe.Some(17696 * time.Microsecond)}
		}, nil, map[string]any{"gateway_retries": 2.0, "gateway_fallbacks": 0.0, "gateway_overhead_seconds": 0.017696}},
		"recall": {func(t *probe.Result) {
			t.Recall = probe.Recall{Result: recall.Wrong, Depth: probe.Some(700), Cached: probe.Some(true)}
		}, nil, map[string]any{"recall": "wrong", "recall_cached": "yes", "recall_depth": 700.0}},
		"foreign recall": {func(t *probe.Result) { t.Recall = probe.Recall{Result: recall.Foreign} },
			nil, map[string]any{"recall": "foreign", "recall_cached": "unknown"}},
		"study": {func(t *probe.Result) {
			t.Conversation, t.Turn, t.AnswerTTFT = "c-17", 3, probe.Some(time.Second)
		}, []probe.Field{{Key: "rate", Value: 0.5}, {Key: "repetition", Value: 2}}, map[string]any{"rate": 0.5, "repetition": 2.0, "conversation": "c-17", "index": 3.0, "answer_ttft_seconds": 1.0}},
	} {
		want := map[string]any{"at": "2026-01-05T08:00:00.250000Z", "target": "chat", "workload": "short", "turn": "first", "outcome": string(probe.HTTP5xx), "v": 1.0}
		maps.Copy(want, tt.want)
		turn, got := bare, map[string]any{}
		tt.change(&turn)
		if err := json.Unmarshal(turn.AppendLine(nil, tt.place...), &got); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, cmp.Diff(want, got))
		}
	}
}

// TestUnknownTimesAreNull: a turn in full says that it has no TTFT and no TPOT, and its line leaves them out.
func TestUnknownTimesAreNull(t *testing.T) {
	r := probe.Result{Outcome: probe.ConnectError}
	full, err := json.Marshal(r)
	if line := string(r.AppendLine(nil)); err != nil || strings.Contains(line, "tpot_seconds") ||
		!strings.Contains(string(full), `"ttft_seconds":null,"tpot_seconds":null`) {
		t.Errorf("%s, %v; line %s", full, err, line)
	}
}
