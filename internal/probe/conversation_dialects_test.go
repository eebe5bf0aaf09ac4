package probe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// said returns the events of an answer with the given deltas and finish reason.
func said(reason string, deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		fmt.Fprintf(&b, `data: {"choices":[{"index":0,"delta":%s,"finish_reason":null}]}`+"\n\n", d)
	}
	fmt.Fprintf(&b, `data: {"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`+"\n\n", reason)
	return b.String() + done
}

const (
	thinks       = `{"reasoning_content":"Hm, well."}`
	thinksNew    = `{"reasoning":"Hm, well."}`
	contentDelta = `{"content":"It is so."}`
	calls        = `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]}`
	callsMore    = `{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`
)

// conversationDialects returns the answers of current models, each for a conversation of three
// turns.
func conversationDialects() []conversationDialect {
	set := func(change func(*probe.Options)) func(*probe.Options) { return change }
	echo := set(func(o *probe.Options) { o.Workload.Reasoning = workload.Echo })
	limit := set(func(o *probe.Options) { o.Workload.MaxOutputTokens = 50 })
	noMaxTokens := func(a request) string {
		if a.MaxTokens > 0 {
			return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
		}
		return ""
	}
	usage := `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":7}}}` + "\n\n"
	return []conversationDialect{
		{name: "content alone", events: said("stop", contentDelta), turns: 3, heard: "It is so."},
		{name: "reasoning_content, then content", events: said("stop", thinks, contentDelta), turns: 3, heard: "It is so.",
			holds: func(r probe.Result) bool {
				return r.Reasoning == "Hm, well." && r.ReasoningField == "reasoning_content" && !r.NoAnswer
			}},
		{name: "reasoning, then content", events: said("stop", thinksNew, contentDelta), turns: 3, heard: "It is so.",
			holds: func(r probe.Result) bool { return r.ReasoningField == "reasoning" }},
		{name: "reasoning_content echoed", set: echo, events: said("stop", thinks, contentDelta), turns: 3, heard: "It is so.",
			sent: func(a request) bool {
				return a.Messages[1].ReasoningContent == "Hm, well." && a.Messages[1].Reasoning == ""
			}},
		{name: "reasoning echoed", set: echo, events: said("stop", thinksNew, contentDelta), turns: 3, heard: "It is so.",
			sent: func(a request) bool {
				return a.Messages[1].Reasoning == "Hm, well." && a.Messages[1].ReasoningContent == ""
			}},
		{name: "reasoning dropped", events: said("stop", thinks, contentDelta), turns: 3, heard: "It is so.",
			sent: func(a request) bool { return a.Messages[1].Reasoning+a.Messages[1].ReasoningContent == "" }},
		{name: "reasoning that takes every token", events: said("length", thinks), turns: 1, short: true,
			holds: func(r probe.Result) bool { return r.NoAnswer && r.TTFT.OK && !r.AnswerTTFT.OK }},
		{name: "reasoning that takes every token, with white space", events: said("length", thinks, `{"content":"\n\n"}`), turns: 1, short: true,
			holds: func(r probe.Result) bool { return r.NoAnswer }},
		{name: "reasoning that ends without an answer", events: said("stop", thinks), turns: 1, want: probe.Empty},
		{name: "a tool call", events: said("tool_calls", calls, callsMore), turns: 1, short: true,
			holds: func(r probe.Result) bool {
				return r.NoAnswer && len(r.ToolCalls) == 1 && r.ToolCalls[0] == (workload.ToolCall{ID: "c1", Name: "f", Arguments: `{"a":1}`})
			}},
		{name: "content, then a tool call", events: said("tool_calls", contentDelta, calls, callsMore), turns: 3, heard: "It is so.",
			holds: func(r probe.Result) bool { return len(r.ToolCalls) == 1 && !r.NoAnswer }},
		{name: "a refusal", events: said("stop", `{"refusal":"I "}`, `{"refusal":"won't."}`), turns: 3, heard: "I won't.",
			holds: func(r probe.Result) bool { return r.Refusal == "I won't." && r.NoAnswer && r.AnswerTTFT == r.TTFT }},
		{name: "a content filter", events: said("content_filter", contentDelta), turns: 1, want: probe.ContentFilter},
		{name: "a content filter before the first token", events: said("content_filter"), turns: 1, want: probe.ContentFilter},
		{name: "two choices, one after the other", turns: 3, heard: "It is so.",
			events: `data: {"choices":[{"index":1,"delta":{"content":"It is so."}}]}` + "\n\n" +
				`data: {"choices":[{"index":0,"delta":{"content":"Not so."}}]}` + "\n\n" + said("stop"),
			finishAs: 1, holds: func(r probe.Result) bool { return r.OtherChoices && r.Events == 1 }},
		{name: "two choices in one event", turns: 3, heard: "It is so.",
			events: `data: {"choices":[{"index":0,"delta":{"content":"It is so."}},{"index":1,"delta":{"content":"Not so."}}]}` + "\n\n" + said("stop"),
			holds:  func(r probe.Result) bool { return r.OtherChoices && r.Events == 1 }},
		{name: "max_tokens refused", set: limit, refuse: noMaxTokens, events: said("stop", contentDelta), turns: 3, extra: 1, heard: "It is so.",
			sent: func(a request) bool { return a.MaxCompletionTokens == 50 && a.MaxTokens == 0 }},
		{name: "a limit that is too large", set: limit, turns: 1, want: probe.HTTP4xx,
			refuse: func(request) string {
				return "'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum context length is 40 tokens."
			}},
		{name: "reasoning tokens, an effort and arguments of the template in the target's extra fields", turns: 3, heard: "It is so.",
			set: func(o *probe.Options) {
				o.Target.Extra = map[string]any{"reasoning_effort": "low", "chat_template_kwargs": map[string]any{"enable_thinking": true}}
			},
			events: strings.Replace(said("stop", thinks, contentDelta), done, usage+done, 1),
			sent:   func(a request) bool { return a.ReasoningEffort == "low" && a.ChatTemplate != nil },
			holds: func(r probe.Result) bool {
				return r.ReasoningTokens == probe.Some(7) && r.OutputTokens == probe.Some(9)
			}},
	}
}

type conversationDialect struct {
	name   string
	set    func(*probe.Options)
	refuse func(request) string
	events string
	// finishAs is the index of the choice with the finish reason.
	finishAs int

	// turns is the expected number of turns, at most three. want is the outcome of the last one; ""
	// means success. extra is the number of additional requests.
	turns, extra int
	want         probe.Outcome
	// short is true if the conversation ends early without a failure.
	short bool
	// heard is the answer in the history.
	heard string
	sent  func(request) bool // checks the last request
	holds func(probe.Result) bool
}

// TestConversationDialects runs conversations with servers that reject everything that any server
// may reject.
func TestConversationDialects(t *testing.T) {
	for _, d := range conversationDialects() {
		t.Run(d.name, func(t *testing.T) { d.check(t) })
	}
}

func (d conversationDialect) check(t *testing.T) {
	events := strings.ReplaceAll(d.events, `{"index":0,"delta":{},`, fmt.Sprintf(`{"index":%d,"delta":{},`, d.finishAs))
	s := serve(t, func(_ int, a request) []string {
		if d.refuse != nil {
			if text := d.refuse(a); text != "" {
				return []string{rejection(text)}
			}
		}
		return []string{events}
	})
	o := options(s.addr)
	if d.set != nil {
		d.set(&o)
	}
	results, sum := converse(t.Context(), t, o, 3)
	asked := s.requests()
	want := d.want
	if want == "" {
		want = probe.Success
	}
	if last := results[len(results)-1]; len(results) != d.turns || last.Outcome != want || sum.Shortened != d.short {
		t.Fatalf("%d turns (shortened: %v), the last %s %q; want %d turns (%v) and %s", len(results), sum.Shortened, last.Outcome, last.Err, d.turns, d.short, want)
	}
	if len(asked) != d.turns+d.extra {
		t.Errorf("%d requests for %d turns", len(asked), d.turns)
	}
	last := asked[len(asked)-1]
	if d.heard != "" && *last.Messages[1].Content != d.heard {
		t.Errorf("the history has the answer %q, want %q", *last.Messages[1].Content, d.heard)
	}
	if d.sent != nil && !d.sent(last) {
		t.Errorf("sent %+v", last)
	}
	if d.holds != nil && slices.ContainsFunc(results, func(r probe.Result) bool { return !d.holds(r) }) {
		t.Errorf("got %+v", results)
	}
}
