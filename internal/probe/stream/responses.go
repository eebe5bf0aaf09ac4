package stream

import "strings"

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

// Decode implements Decoder.
func (d *responses) Decode(ev *Event, data []byte, named bool) bool {
	s := scanner{b: data}
	var e responsesEvent
	for name := range s.root {
		e.member(&s, name)
	}
	if !s.whole() {
		return false
	}
	kind := string(e.kind.raw)
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
		ev.Content = e.delta.decode()
	case "refusal.delta":
		ev.Refusal = e.delta.decode()
	case "reasoning_text.delta", "reasoning_summary_text.delta", "reasoning.delta":
		ev.Reasoning = e.delta.decode()
	case "function_call_arguments.delta", "custom_tool_call_input.delta":
		d.call(ev, call{index: e.index, arguments: e.delta})
	case "output_item.added":
		if k := string(e.itemKind.raw); k == "function_call" || k == "custom_tool_call" {
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
	case len(e.reason.raw) > 0:
		return FinishReason(e.reason.decode())
	case d.called:
		return "tool_calls"
	}
	return FinishReason(e.status.decode())
}

func (e *responsesEvent) member(s *scanner, name []byte) {
	switch string(name) {
	case "type":
		e.kind = s.optional()
	case "delta":
		e.delta = s.optional()
	case "output_index":
		e.index, _ = s.count()
	case "item":
		e.readItem(s)
	case "response":
		for name := range s.members {
			e.responseMember(s, name)
		}
	default:
		e.fault.memberOrSkip(s, name)
	}
}

func (e *responsesEvent) readItem(s *scanner) {
	for name := range s.members {
		switch string(name) {
		case "type":
			e.itemKind = s.optional()
		case "call_id":
			e.item.id = s.optional()
		case "name":
			e.item.name = s.optional()
		default:
			s.skip()
		}
	}
}

func (e *responsesEvent) responseMember(s *scanner, name []byte) {
	switch string(name) {
	case "status":
		e.status = s.optional()
	case "error":
		e.fault.member(s, name)
	case "incomplete_details":
		for name := range s.members {
			if string(name) == "reason" {
				e.reason = s.optional()
			} else {
				s.skip()
			}
		}
	case "usage":
		e.readUsage(s)
	default:
		s.skip()
	}
}

func (e *responsesEvent) readUsage(s *scanner) {
	for name := range s.members {
		switch u := &e.usage; string(name) {
		case "input_tokens":
			u.PromptTokens, e.used = s.countOr(0), true
		case "output_tokens":
			u.OutputTokens, e.used = s.countOr(0), true
		case "input_tokens_details":
			u.CachedTokens, u.CachedKnown = readDetail(s, "cached_tokens")
		case "output_tokens_details":
			u.ReasoningTokens, u.ReasoningKnown = readDetail(s, "reasoning_tokens")
		default:
			s.skip()
		}
	}
}
