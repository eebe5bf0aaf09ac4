package dialect

import (
	"fmt"
	"strings"

	"synthetic/internal/probe/workload"
)

// responsesBody returns the fields for OpenAI's /responses. It sends the whole history and asks the server not to
// store it.
func responsesBody(t *Turn) fields {
	var input []fields
	for i := range t.History {
		input = append(input, responsesItems(i, &t.History[i])...)
	}
	f := fields{"model": t.Model, "input": input, "stream": true, "store": false}
	put(f, maxOutputTokens, t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	putAll(f, "tools", t.Spec.Tools, func(t *workload.Tool) tool {
		return tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	})
	addToolChoice(f, t, sameWord, func(name string) any { return fields{"type": "function", "name": name} })
	if schema := t.Spec.ResponseSchema; schema != nil {
		f["text"] = fields{
			"format": fields{"type": "json_schema", "name": schemaName, "strict": true, "schema": schema},
		}
	}
	return f
}

// responsesItems converts a message: its text, then its tool calls.
func responsesItems(number int, m *workload.Message) (items []fields) {
	if m.Role == "tool" {
		return []fields{{"type": "function_call_output", "call_id": m.ToolCallID, "output": m.Content}}
	}
	if m.Content != "" || len(m.ToolCalls) == 0 {
		items = append(items, responsesMessage(number, m))
	}
	for _, c := range m.ToolCalls {
		items = append(items, fields{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
	}
	return items
}

func responsesMessage(number int, m *workload.Message) fields {
	text := fields{"type": "input_text"}
	put(text, "text", m.Content)
	content := []fields{text}
	out := fields{"type": "message", "role": m.Role}
	if m.Role == "assistant" { // strict servers require these fields in their own answers
		text["type"], text["annotations"] = "output_text", []any{}
		out["id"], out["status"] = fmt.Sprintf("msg_%d", number), "completed"
	} else {
		for _, i := range m.Images {
			content = append(content, fields{"type": "input_image", "image_url": i.URL()})
		}
	}
	out["content"] = content
	return out
}

// responsesDecoder decodes the events of OpenAI's /v1/responses.
type responsesDecoder struct{ calls calls }

func newResponses() Decoder { return &responsesDecoder{} }

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

func (d *responsesDecoder) Decode(ev *Event, data []byte, isError bool) bool {
	s := newScanner(data)
	var e responsesEvent
	for name := range s.root {
		e.member(&s, name)
	}
	if !s.valid() {
		return false
	}
	kind := string(e.kind.raw)
	e.fault.fill(ev, data, isError || kind == "error" || kind == "response.failed" || string(e.status.raw) == "failed")
	ev.Usage, ev.HasUsage = e.usage, e.hasUsage
	d.fill(ev, &e, strings.TrimPrefix(kind, "response."))
	ev.markToken()
	return true
}

func (d *responsesDecoder) fill(ev *Event, e *responsesEvent, kind string) {
	switch kind {
	case "output_text.delta", "audio.transcript.delta", "output_audio_transcript.delta":
		ev.Content = e.delta.decode()
	case "refusal.delta":
		ev.Refusal = e.delta.decode()
	case "reasoning_text.delta", "reasoning_summary_text.delta", "reasoning.delta":
		ev.Reasoning = e.delta.decode()
	case "function_call_arguments.delta", "custom_tool_call_input.delta":
		d.setCall(ev, call{index: e.index, arguments: e.delta})
	case "output_item.added":
		if k := string(e.itemKind.raw); k == "function_call" || k == "custom_tool_call" {
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

func (d *responsesDecoder) setCall(ev *Event, c call) {
	d.calls.seen = true
	d.calls.set(c)
	ev.ToolCalls = d.calls.decode()
}

// finishReason returns why a response ended. Only an incomplete response has a reason.
func (d *responsesDecoder) finishReason(e *responsesEvent) []byte {
	status := e.status.decode()
	switch {
	case len(e.reason.raw) > 0:
		return e.reason.decode()
	case d.calls.seen && FinishReason(status) != Aborted:
		return []byte(ToolCalls)
	}
	return status
}

func (e *responsesEvent) member(s *scanner, name []byte) {
	switch string(name) {
	case "type":
		e.kind = s.text()
	case "delta":
		e.delta = s.text()
	case "output_index":
		e.index, _ = s.count()
	case "item":
		e.readItem(s)
	case "response":
		e.readResponse(s)
	default:
		e.fault.memberOrSkip(s, name)
	}
}

func (e *responsesEvent) readItem(s *scanner) {
	for name := range s.members {
		switch string(name) {
		case "type":
			e.itemKind = s.text()
		case "call_id":
			e.item.id = s.text()
		case "name":
			e.item.name = s.text()
		default:
			s.skip()
		}
	}
}

func (e *responsesEvent) readResponse(s *scanner) {
	for name := range s.members {
		switch string(name) {
		case "status":
			e.status = s.text()
		case "error":
			e.fault.read(s)
		case "incomplete_details":
			for range s.only("reason") {
				e.reason = s.text()
			}
		case "usage":
			e.usage, e.hasUsage = readUsage(s)
		default:
			s.skip()
		}
	}
}
