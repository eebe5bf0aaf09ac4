package stream

import (
	"strings"

	"synthetic/internal/probe/stream/jsonscan"
)

// responses reads the events of OpenAI's /v1/responses.
type responses struct {
	called bool // a tool call came
	calls  calls
}

// NewResponses returns the Decoder of a streamed response.
func NewResponses() Decoder { return &responses{} }

// responsesEvent is what one event says, strings still escaped.
type responsesEvent struct {
	kind, delta    text
	index          int
	item           call
	itemKind       text
	status, reason text
	usage          Usage
	used           bool
	fault          fault
}

func (d *responses) Decode(ev *Event, data []byte, named bool) bool {
	s := jsonscan.New(data)
	var e responsesEvent
	for name := range s.Root {
		e.member(&s, name)
	}
	if !s.Whole() {
		return false
	}
	kind := string(e.kind.Raw)
	e.fault.fill(ev, data, named || kind == "error" || kind == "response.failed")
	ev.Usage, ev.HasUsage = e.usage, e.used
	d.add(ev, &e, strings.TrimPrefix(kind, "response."))
	ev.settle()
	return true
}

// add takes the delta of an event for what its kind says that it is.
func (d *responses) add(ev *Event, e *responsesEvent, kind string) {
	switch kind {
	case "output_text.delta":
		ev.Content = e.delta.Decode()
	case "refusal.delta":
		ev.Refusal = e.delta.Decode()
	case "reasoning_text.delta", "reasoning_summary_text.delta", "reasoning.delta":
		ev.Reasoning = e.delta.Decode()
	case "function_call_arguments.delta", "custom_tool_call_input.delta":
		d.call(ev, call{index: e.index, arguments: e.delta})
	case "output_item.added":
		if k := string(e.itemKind.Raw); k == "function_call" || k == "custom_tool_call" {
			e.item.index = e.index
			d.call(ev, e.item)
		}
	case "completed", "incomplete":
		if ev.Kind == Other {
			ev.Kind = Done
		}
		ev.FinishReason = d.finish(e)
	}
}

func (d *responses) call(ev *Event, c call) {
	d.called = true
	d.calls.take(c)
	ev.ToolCalls = d.calls.decode()
}

// finish is why a response ended, of which only what is amiss has a name.
func (d *responses) finish(e *responsesEvent) string {
	switch {
	case len(e.reason.Raw) > 0:
		return FinishReason(e.reason.Decode())
	case d.called:
		return "tool_calls"
	}
	return FinishReason(e.status.Decode())
}

func (e *responsesEvent) member(s *jsonscan.Scanner, name []byte) {
	switch string(name) {
	case "type":
		e.kind = s.Optional()
	case "delta":
		e.delta = s.Optional()
	case "output_index":
		e.index, _ = s.Count()
	case "item":
		e.readItem(s)
	case "response":
		for name := range s.Members {
			e.responseMember(s, name)
		}
	default:
		e.fault.memberOrSkip(s, name)
	}
}

func (e *responsesEvent) readItem(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "type":
			e.itemKind = s.Optional()
		case "call_id":
			e.item.id = s.Optional()
		case "name":
			e.item.name = s.Optional()
		default:
			s.Skip()
		}
	}
}

func (e *responsesEvent) responseMember(s *jsonscan.Scanner, name []byte) {
	switch string(name) {
	case "status":
		e.status = s.Optional()
	case "error":
		e.fault.member(s, name)
	case "incomplete_details":
		for name := range s.Members {
			if string(name) == "reason" {
				e.reason = s.Optional()
			} else {
				s.Skip()
			}
		}
	case "usage":
		e.readUsage(s)
	default:
		s.Skip()
	}
}

func (e *responsesEvent) readUsage(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch u := &e.usage; string(name) {
		case "input_tokens":
			u.PromptTokens, e.used = s.CountOr(0), true
		case "output_tokens":
			u.OutputTokens, e.used = s.CountOr(0), true
		case "input_tokens_details":
			u.CachedTokens, u.CachedKnown = readDetail(s, "cached_tokens")
		case "output_tokens_details":
			u.ReasoningTokens, u.ReasoningKnown = readDetail(s, "reasoning_tokens")
		default:
			s.Skip()
		}
	}
}
