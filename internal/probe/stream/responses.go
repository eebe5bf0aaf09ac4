package stream

import (
	"strings"

	"synthetic/internal/probe/stream/jsonscan"
)

// responses decodes the events of OpenAI's /v1/responses.
type responses struct{ calls calls }

// NewResponses returns the Decoder of streamed responses.
func NewResponses() Decoder { return &responses{} }

// responsesEvent is the content of one event, with its strings still escaped.
type responsesEvent struct {
	kind, delta    text
	index          int
	item           call
	itemKind       text
	status, reason text
	usage          Usage
	hasUsage       bool
	fault          fault
}

func (d *responses) Decode(ev *Event, data []byte, isError bool) bool {
	s := jsonscan.New(data)
	var e responsesEvent
	for name := range s.Root {
		e.member(&s, name)
	}
	if !s.Valid() {
		return false
	}
	kind := string(e.kind.Raw)
	e.fault.fill(ev, data, isError || kind == "error" || kind == "response.failed" || string(e.status.Raw) == "failed")
	ev.Usage, ev.HasUsage = e.usage, e.hasUsage
	d.fill(ev, &e, strings.TrimPrefix(kind, "response."))
	ev.markToken()
	return true
}

func (d *responses) fill(ev *Event, e *responsesEvent, kind string) {
	switch kind {
	case "output_text.delta", "audio.transcript.delta", "output_audio_transcript.delta":
		ev.Content = e.delta.Decode()
	case "refusal.delta":
		ev.Refusal = e.delta.Decode()
	case "reasoning_text.delta", "reasoning_summary_text.delta", "reasoning.delta":
		ev.Reasoning = e.delta.Decode()
	case "function_call_arguments.delta", "custom_tool_call_input.delta":
		d.setCall(ev, call{index: e.index, arguments: e.delta})
	case "output_item.added":
		if k := string(e.itemKind.Raw); k == "function_call" || k == "custom_tool_call" {
			e.item.index = e.index
			d.setCall(ev, e.item)
		}
	case "completed", "incomplete", "cancelled":
		if ev.Kind == Other {
			ev.Kind = Done
		}
		ev.markFinish(d.finishReason(e))
	}
}

func (d *responses) setCall(ev *Event, c call) {
	d.calls.seen = true
	d.calls.set(c)
	ev.ToolCalls = d.calls.decode()
}

// finishReason returns why a response ended. Only an incomplete response has a reason.
func (d *responses) finishReason(e *responsesEvent) []byte {
	status := e.status.Decode()
	switch {
	case len(e.reason.Raw) > 0:
		return e.reason.Decode()
	case d.calls.seen && FinishReason(status) != Aborted:
		return []byte(ToolCalls)
	}
	return status
}

func (e *responsesEvent) member(s *jsonscan.Scanner, name []byte) {
	switch string(name) {
	case "type":
		e.kind = s.Text()
	case "delta":
		e.delta = s.Text()
	case "output_index":
		e.index, _ = s.Count()
	case "item":
		e.readItem(s)
	case "response":
		e.readResponse(s)
	default:
		e.fault.memberOrSkip(s, name)
	}
}

func (e *responsesEvent) readItem(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "type":
			e.itemKind = s.Text()
		case "call_id":
			e.item.id = s.Text()
		case "name":
			e.item.name = s.Text()
		default:
			s.Skip()
		}
	}
}

func (e *responsesEvent) readResponse(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "status":
			e.status = s.Text()
		case "error":
			e.fault.read(s)
		case "incomplete_details":
			for range s.Only("reason") {
				e.reason = s.Text()
			}
		case "usage":
			e.usage, e.hasUsage = readUsage(s)
		default:
			s.Skip()
		}
	}
}
