package stream

import (
	"bytes"
	"strings"
)

// maxMessage bounds the text that an event carries about a failure, in bytes.
const maxMessage = 512

// classify fills ev from the payload of an event. It may write over data, and
// ev shares it. named says that the event was called "error"; p is the stream's.
func classify(ev *Event, data []byte, named bool, p *prefix) {
	ev.Size = len(data)
	trimmed := bytes.Trim(data, " \t\r\n")
	var c chunk
	switch {
	case string(trimmed) == "[DONE]":
		ev.Kind = Done
	case len(trimmed) == 0 && !named:
		ev.Kind = Other
	case c.scan(trimmed, p):
		c.fill(ev, trimmed, named)
	case named:
		ev.Kind, ev.Message = Error, clip(data)
	default:
		ev.Kind, ev.Message = Malformed, clip(data)
	}
}

func (c *chunk) fill(ev *Event, data []byte, named bool) {
	if named || c.failed || c.isError {
		// Before anything is decoded: that would write over data.
		ev.Kind, ev.Message = Error, c.errorMessage(data)
	}
	d := &c.choice.delta
	ev.Content = d.content.decode()
	if ev.Reasoning = d.reasoningContent.decode(); ev.Reasoning == nil {
		ev.Reasoning = d.reasoning.decode()
	}
	ev.ToolCall = d.tool
	ev.FinishReason = finishReason(c.choice.finish)
	ev.Usage, ev.HasUsage = c.usage, c.hasUsage
	token := ev.Content != nil || ev.Reasoning != nil || ev.ToolCall || len(d.refusal.raw) > 0
	if token && ev.Kind == Other {
		ev.Kind = Token
	}
}

// errorMessage returns the most telling text of an error, the whole of it if
// it names none.
func (c *chunk) errorMessage(data []byte) string {
	for _, t := range []text{c.reason, c.message, c.detail} {
		if len(t.raw) > 0 {
			return clip(text{bytes.Clone(t.raw), t.escaped}.decode())
		}
	}
	return clip(data)
}

// finishReason saves the allocation for the reasons that servers give.
func finishReason(t text) string {
	switch b := t.decode(); string(b) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	default:
		return clip(b)
	}
}

// clip returns the valid UTF-8 among the first maxMessage bytes of b.
func clip(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), maxMessage)]), "")
}

// ErrorMessage returns what the body of an error response says, at most 512
// bytes of it: the message of an error object if it names one, otherwise the
// body's start.
func ErrorMessage(body []byte) string {
	var c chunk
	body = bytes.TrimSpace(body)
	if c.scan(body, &prefix{}) {
		return c.errorMessage(body)
	}
	return clip(body)
}
