package probe_test

import (
	"fmt"
	"strings"
	"testing"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// token returns an event with n bytes of text in a field.
func token(field string, n int) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{%q:%q}}]}`+"\n\n", field, strings.Repeat("x", n))
}

// TestAnswerBounds checks each limit of an answer to a request for 100 tokens, at the limit and one
// above.
func TestAnswerBounds(t *testing.T) {
	const asked = 100
	const events, text = 64 + 4*asked, 1<<10 + 64*asked
	for name, tc := range map[string]struct {
		stream string
		err    string // "" for success
	}{
		"events, at the bound":       {strings.Repeat(hello, events), ""},
		"events, beyond it":          {strings.Repeat(hello, events+1), "the server ignores max_tokens: the answer has more than 464 events with tokens, but 100 tokens were requested"},
		"text, at the bound":         {token("content", text), ""},
		"text, beyond it":            {token("content", text+1), "the server ignores max_tokens: the answer has more than 7424 bytes, but 100 tokens were requested"},
		"reasoning, at the bound":    {token("reasoning_content", text-5) + hello, ""},
		"reasoning, beyond it":       {token("reasoning_content", text-4) + hello, "more than 7424 bytes"},
		"comments, within the bytes": {strings.Repeat(": ping\n", 10_000) + hello, ""},
		"comments, beyond them":      {strings.Repeat(": ping\n", 100_000) + hello, "the server sent more than "},
		"one event, within":          {token("other", 150_000) + hello, ""},
		"one event, beyond":          {token("other", 160_000) + hello, "the stream sent an event of more than 15"},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, &scripted{steps: []step{{0, closeHead + tc.stream + finish + done}}})
			o := options(s.addr)
			o.Workload.MaxOutputTokens = asked
			r := once(t, o)
			want := probe.Success
			if tc.err != "" {
				want = probe.Malformed
			}
			if r.Outcome != want || !strings.Contains(r.Err, tc.err) {
				t.Errorf("outcome %s (%s), want %s (%s)", r.Outcome, r.Err, want, tc.err)
			}
			if len(r.Answer) > text+1 || len(r.Gaps) > events {
				t.Errorf("an answer of %d bytes with %d gaps is kept", len(r.Answer), len(r.Gaps))
			}
		})
	}
}

// TestEchoedPrompt sends a prompt of 200,000 tokens to a server that echoes their IDs in its first event, as vLLM
// does. An event that is longer than the IDs of any prompt of this length is refused, and little of it is read.
func TestEchoedPrompt(t *testing.T) {
	prompt := strings.Repeat("word ", 200_000)
	for name, tc := range map[string]struct {
		ids  int
		want probe.Outcome
	}{"echoed": {200_000, probe.Success}, "endless": {4_000_000, probe.Malformed}} {
		t.Run(name, func(t *testing.T) {
			ids := `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"prompt_token_ids":[0` + strings.Repeat(", 100000", tc.ids) + "]}\n\n"
			s := play(t, &scripted{steps: []step{{0, closeHead + ids + hello + finish + done}}})
			o := options(s.addr)
			o.Workload.MaxOutputTokens, o.Peaks = 100, &probe.Peaks{}
			plan := plan(1)
			plan.Conversation.Opening[0].Content = prompt
			results, _ := follow(t.Context(), t, o, plan)
			if r := results[0]; r.Outcome != tc.want {
				t.Errorf("%s %s", r.Outcome, r.Err)
			}
			if used, _ := o.Peaks.Wire.Level(); used > float64(9*len(prompt)) {
				t.Errorf("%v bytes were read for a request of %d", used, len(prompt))
			}
		})
	}
}

// TestCost checks that the memory of a long prompt includes the event that may echo its IDs, and that a usual prompt
// needs little.
func TestCost(t *testing.T) {
	for bytes, want := range map[int][2]int64{
		18_000:    {130 << 10, 150 << 10},
		900_000:   {2*8*900_000 - 2<<20, 16 << 20}, // an event of twice 8 bytes for each byte, without its first MiB
		2_500_000: {2*16<<20 - 2<<20, 40 << 20},    // no event is larger than 16 MiB
	} {
		history := []workload.Message{{Role: "user", Content: strings.Repeat("x", bytes)}}
		if got := probe.Cost(&workload.Spec{MaxOutputTokens: 128}, history); got < want[0] || got > want[1] {
			t.Errorf("a prompt of %d bytes: %d bytes of memory, want %d to %d", bytes, got, want[0], want[1])
		}
	}
}

// TestPeaks checks that the turn closest to its limits is recorded.
func TestPeaks(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, closeHead + hello + world + finish + done}}})
	o := options(s.addr)
	o.Workload.MaxOutputTokens, o.Peaks = 10, &probe.Peaks{}
	once(t, o)
	for name, tc := range map[string]struct {
		peak        *bound.Peak
		used, limit float64
	}{
		"events": {&o.Peaks.Events, 2, 64 + 40},
		"answer": {&o.Peaks.Answer, float64(len("Hello world")), 1024 + 640},
	} {
		if used, limit := tc.peak.Level(); used != tc.used || limit != tc.limit {
			t.Errorf("%s: %v of %v, want %v of %v", name, used, limit, tc.used, tc.limit)
		}
	}
	want := len(closeHead + hello + world + finish + done)
	if used, limit := o.Peaks.Wire.Level(); used != float64(want) || limit < 64<<10+40<<10 {
		t.Errorf("wire: %v of %v, want %d", used, limit, want)
	}
}

// TestLongHistoryEndsTheConversation checks that a conversation ends without a failure before its
// history exceeds the limit.
func TestLongHistoryEndsTheConversation(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, closeHead + token("content", 200<<10) + finish + done}}})
	o := options(s.addr)
	o.Peaks = &probe.Peaks{}
	results, sum := converse(t.Context(), t, o, 10)
	if used, limit := o.Peaks.Added.Level(); used != 400<<10 || limit != 512<<10 {
		t.Errorf("a history that had grown by %v of %v bytes was sent", used, limit)
	}
	if len(results) != 3 || sum.Outcome != probe.Success || !sum.Shortened || sum.Turns != 3 {
		t.Errorf("%d turns of 200 KiB each, %+v", len(results), sum)
	}
	if _, body := s.request(2); len(body) > 512<<10 {
		t.Errorf("%d bytes were sent to the target", len(body))
	}
	_, whole := converse(t.Context(), t, options(s.addr), 3)
	if whole.Shortened {
		t.Error("a conversation that took all its turns counts as shortened")
	}
}

// TestNoMemoryIsNotTheTarget checks that a turn is not sent if the history needs more than the
// budget, and that the target is not blamed.
func TestNoMemoryIsNotTheTarget(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, closeHead + token("content", 5000) + finish + done}}})
	o := options(s.addr)
	o.Workload.MaxOutputTokens = 100
	plan := plan(3)
	first := probe.Cost(&o.Workload, plan.Conversation.Opening)
	budget := bound.NewBudget(first + 3*6000) // enough for one answer and one question
	plan.Memory, _ = budget.Claim(first)
	results, sum := follow(t.Context(), t, o, plan)
	last := results[len(results)-1]
	if len(results) != 3 || last.Outcome != probe.NotSent || !strings.Contains(last.Err, "memory") || s.count() != 2 {
		t.Errorf("%d turns, %d requests, the last: %s (%s)", len(results), s.count(), last.Outcome, last.Err)
	}
	if sum.Outcome.Failed() {
		t.Errorf("the conversation failed: %s", sum.Outcome)
	}
	plan.Memory.Release()
	if used, _ := budget.Level(); used != 0 {
		t.Errorf("%v bytes are reserved at the end", used)
	}
}
