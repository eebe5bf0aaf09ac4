package stream

import (
	"bytes"
	"strings"
)

// maxMessage bounds the text that an event carries about a failure, in bytes.
const maxMessage = 512

// classify fills ev from the payload of an event. It may write over data, and
// ev shares it. named says that the event was called "error"; d is the stream's.
func classify(ev *Event, data []byte, named bool, d Decoder) {
	trimmed := bytes.Trim(data, " \t\r\n")
	switch {
	case string(trimmed) == "[DONE]":
		ev.Kind = Done
	case len(trimmed) == 0 && !named:
		ev.Kind = Other
	case d.Decode(ev, trimmed, named):
	case named:
		ev.Kind, ev.Message = Error, clip(data)
	default:
		ev.Kind, ev.Message = Malformed, clip(data)
	}
}

func (c *chunk) fill(ev *Event, data []byte, named bool, tools *calls) {
	c.fault.fill(ev, data, named) // before anything is decoded: that would write over data
	d := &c.choice.delta
	ev.Content = d.content.Decode()
	if ev.Reasoning = d.reasoningContent.Decode(); ev.Reasoning != nil {
		ev.ReasoningField = "reasoning_content"
	} else if ev.Reasoning = d.reasoning.Decode(); ev.Reasoning != nil {
		ev.ReasoningField = "reasoning"
	}
	ev.Refusal = d.refusal.Decode()
	if d.tools || d.function {
		ev.ToolCalls = tools.decode()
	}
	ev.OtherChoice = c.others
	ev.FinishReason = FinishReason(c.choice.finish.Decode())
	ev.Usage, ev.HasUsage = c.usage, c.hasUsage
	ev.settle()
}

// settle makes a Token of an event that carries one.
func (ev *Event) settle() {
	token := ev.Content != nil || ev.Reasoning != nil || ev.ToolCalls != nil || ev.Refusal != nil
	if token && ev.Kind == Other {
		ev.Kind = Token
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
	body = bytes.TrimSpace(body)
	if f, ok := faultOf(body); ok {
		return f.text(body)
	}
	return clip(body)
}
