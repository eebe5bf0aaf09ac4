package stream

import (
	"cmp"

	"synthetic/internal/probe/stream/jsonscan"
)

// ollama reads the lines of Ollama's /api/chat.
type ollama struct {
	called bool // a tool call came
	calls  calls
}

// NewOllama returns the Decoder of a streamed chat of Ollama's own API; its body
// is read with Options.Lines.
func NewOllama() Decoder { return &ollama{} }

// ollamaLine is what one line says, strings still escaped.
type ollamaLine struct {
	content, thinking text
	done              bool
	reason            text
	usage             Usage
	used              bool
	fault             fault
}

func (d *ollama) Decode(ev *Event, data []byte, named bool) bool {
	s := jsonscan.New(data)
	var l ollamaLine
	d.calls.reset()
	for name := range s.Root {
		l.member(&s, name, &d.calls)
	}
	if !s.Whole() {
		return false
	}
	l.fault.fill(ev, data, named)
	ev.Content, ev.Reasoning = l.content.Decode(), l.thinking.Decode()
	if ev.Reasoning != nil {
		ev.ReasoningField = "thinking"
	}
	ev.ToolCalls = d.calls.decode()
	d.called = d.called || ev.ToolCalls != nil
	ev.Usage, ev.HasUsage = l.usage, l.used
	ev.settle()
	if l.done {
		d.end(ev, &l)
	}
	return true
}

// end makes the end of the answer of a line. One that carries a token, too, is a
// token: the end of the body ends such an answer.
func (d *ollama) end(ev *Event, l *ollamaLine) {
	if ev.Kind == Other {
		ev.Kind = Done
	}
	ev.FinishReason = cmp.Or(FinishReason(l.reason.Decode()), "stop")
	if d.called && ev.FinishReason == "stop" {
		ev.FinishReason = "tool_calls"
	}
}

func (l *ollamaLine) member(s *jsonscan.Scanner, name []byte, to *calls) {
	switch string(name) {
	case "message":
		l.message(s, to)
	case "done":
		l.done = s.Peek() == 't'
		s.Skip()
	case "done_reason":
		l.reason = s.Optional()
	case "prompt_eval_count":
		l.usage.PromptTokens, l.used = s.CountOr(0), true
	case "eval_count":
		l.usage.OutputTokens, l.used = s.CountOr(0), true
	default:
		l.fault.memberOrSkip(s, name)
	}
}

func (l *ollamaLine) message(s *jsonscan.Scanner, to *calls) {
	for name := range s.Members {
		switch string(name) {
		case "content":
			l.content = s.Optional()
		case "thinking":
			l.thinking = s.Optional()
		case "tool_calls":
			to.readObjects(s)
		default:
			s.Skip()
		}
	}
}
