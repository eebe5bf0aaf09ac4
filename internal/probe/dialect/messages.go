package dialect

import (
	"cmp"
	"encoding/json"
	"strings"

	"synthetic/internal/probe/workload"
)

// defaultLimit is the token limit if the workload has none, because the API requires one.
const defaultLimit = 4096

// messagesBody returns the fields for Anthropic's /messages, which has no response format.
func messagesBody(t *Turn) fields {
	var all []fields
	var system []string
	var results []fields // of the last message, if it has only tool results
	for i := range t.History {
		m := &t.History[i]
		switch m.Role {
		case "system":
			system = append(system, m.Content)
		case "tool": // the results for one answer are one message of the user
			result := fields{"type": "tool_result", "tool_use_id": m.ToolCallID}
			put(result, "content", m.Content)
			if results == nil {
				all = append(all, nil)
			}
			results = append(results, result)
			all[len(all)-1] = fields{"role": "user", "content": results}
		default:
			all, results = append(all, fields{"role": m.Role, "content": messagesContent(m)}), nil
		}
	}
	f := fields{"model": t.Model, "messages": all, maxTokens: cmp.Or(t.Spec.MaxOutputTokens, defaultLimit), "stream": true}
	put(f, "system", strings.Join(system, "\n\n"))
	put(f, "temperature", t.Spec.Temperature)
	putAll(f, "tools", t.Spec.Tools, func(t *workload.Tool) tool {
		return tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters}
	})
	addToolChoice(f, t, func(word string) any {
		if word == workload.ChoiceRequired {
			word = "any"
		}
		return fields{"type": word}
	}, func(name string) any { return fields{"type": "tool", "name": name} })
	return f
}

// messagesContent returns a text, or blocks for a message with images or tool calls.
func messagesContent(m *workload.Message) any {
	if len(m.ToolCalls) == 0 && len(m.Images) == 0 {
		return m.Content
	}
	var blocks []fields
	if m.Content != "" {
		blocks = append(blocks, fields{"type": "text", "text": m.Content})
	}
	for _, i := range m.Images {
		blocks = append(blocks, fields{"type": "image", "source": fields{"type": "base64", "media_type": i.Type, "data": i.Data}})
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, fields{"type": "tool_use", "id": c.ID, "name": c.Name, "input": argumentsObject(c.Arguments)})
	}
	return blocks
}

// argumentsObject returns the arguments of a tool call as a JSON object, which is empty if they
// are not an object.
func argumentsObject(arguments string) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

// messagesDecoder decodes the events of Anthropic's /v1/messages.
type messagesDecoder struct {
	usage messagesUsage // so far; the events have it in parts
	calls calls
}

func newMessages() Decoder { return &messagesDecoder{} }

// messagesUsage counts the tokens of a message. Its input does not include the tokens that were read
// from the cache or written to it.
type messagesUsage struct {
	input, cached, written, output int
	cachedKnown                    bool
}

// messagesEvent is the content of one event, with its strings still escaped.
type messagesEvent struct {
	kind           text
	index          int
	text, thinking text
	tool           call
	stop           text
	hasUsage       bool
	thinks         bool
	fault          fault
}

func (d *messagesDecoder) Decode(ev *Event, data []byte, isError bool) bool {
	s := newScanner(data)
	var e messagesEvent
	for name := range s.root {
		d.member(&e, &s, name)
	}
	if !s.valid() {
		return false
	}
	e.fault.fill(ev, data, isError || string(e.kind.raw) == "error")
	ev.Content, ev.Reasoning = e.text.decode(), e.thinking.decode()
	e.tool.index = e.index
	d.calls.set(e.tool)
	ev.ToolCalls = d.calls.decode()
	ev.markFinish(e.stop.decode())
	ev.Thinks = e.thinks
	ev.Usage, ev.HasUsage = d.usage.total(), e.hasUsage
	if string(e.kind.raw) == "message_stop" && ev.Kind == Other {
		ev.Kind = Done
	}
	ev.markToken()
	return true
}

func (d *messagesDecoder) member(e *messagesEvent, s *scanner, name []byte) {
	switch string(name) {
	case "type":
		e.kind = s.text()
	case "index":
		e.index, _ = s.count()
	case "delta", "content_block":
		e.readPart(s)
	case "message":
		for range s.only("usage") {
			d.usage.read(s)
			d.usage.output = 0 // the answer has only begun
			e.hasUsage = true
		}
	case "usage":
		d.usage.read(s)
		e.hasUsage = true
	default:
		e.fault.memberOrSkip(s, name)
	}
}

// readPart reads a delta, or the start of a content block.
func (e *messagesEvent) readPart(s *scanner) {
	for name := range s.members {
		switch string(name) {
		case "text":
			e.text = s.text()
		case "thinking":
			e.thinking = s.text()
		case "signature", "data": // of thinking, also of redacted one
			e.thinks = len(s.text().raw) > 0 || e.thinks
		case "id":
			e.tool.id = s.text()
		case "name":
			e.tool.name = s.text()
		case "partial_json":
			e.tool.arguments = s.text()
		case "stop_reason":
			e.stop = s.text()
		default:
			s.skip()
		}
	}
}

// read reads the counts of an event. They replace the earlier ones unless the prompt becomes smaller: some
// gateways end with an input of 0.
func (u *messagesUsage) read(s *scanner) {
	next := *u
	for name := range s.members {
		count := &next.input
		switch string(name) {
		case "input_tokens":
		case "cache_read_input_tokens":
			if s.peek()-'0' <= 9 {
				next.cachedKnown = true
			}
			count = &next.cached
		case "cache_creation_input_tokens":
			count = &next.written
		case "output_tokens":
			count = &next.output
		default:
			s.skip()
			continue
		}
		if n := s.countOr(0); n > 0 {
			*count = n
		}
	}
	output := max(u.output, next.output)
	if next.input+next.cached+next.written >= u.input+u.cached+u.written {
		*u = next
	}
	u.output = output
}

// total returns the counts as other APIs define them.
func (u *messagesUsage) total() Usage {
	return Usage{
		PromptTokens: u.input + u.cached + u.written, OutputTokens: u.output,
		CachedTokens: u.cached, CachedKnown: u.cachedKnown,
	}
}
