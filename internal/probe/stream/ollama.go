package stream

import (
	"cmp"

	"synthetic/internal/probe/stream/jsonscan"
)

// ollama decodes the lines of Ollama's /api/chat.
type ollama struct{ calls calls }

// NewOllama returns the Decoder of streamed chats of Ollama's own API, for Options.Lines.
func NewOllama() Decoder { return &ollama{} }

// ollamaLine is the content of one line, with its strings still escaped.
type ollamaLine struct {
	content, thinking text
	done              bool
	reason            text
	usage             Usage
	hasUsage          bool
	fault             fault
}

func (d *ollama) Decode(ev *Event, data []byte, isError bool) bool {
	s := jsonscan.New(data)
	var l ollamaLine
	d.calls.reset()
	for name := range s.Root {
		l.member(&s, name, &d.calls)
	}
	if !s.Valid() {
		return false
	}
	l.fault.fill(ev, data, isError)
	ev.Content, ev.Reasoning = l.content.Decode(), l.thinking.Decode()
	if ev.Reasoning != nil {
		ev.ReasoningField = "thinking"
	}
	ev.ToolCalls = d.calls.decode()
	ev.Usage, ev.HasUsage = l.usage, l.hasUsage
	ev.markToken()
	if l.done {
		d.end(ev, &l)
	}
	return true
}

// end fills ev from the last line. If the line also has a token, it is a Token, and the end of the
// body ends the answer.
func (d *ollama) end(ev *Event, l *ollamaLine) {
	if ev.Kind == Other {
		ev.Kind = Done
	}
	ev.FinishReason = cmp.Or(FinishReason(l.reason.Decode()), "stop")
	if d.calls.seen && ev.FinishReason == "stop" {
		ev.FinishReason = "tool_calls"
	}
}

func (l *ollamaLine) member(s *jsonscan.Scanner, name []byte, calls *calls) {
	switch string(name) {
	case "message":
		l.readMessage(s, calls)
	case "done":
		l.done = s.Peek() == 't'
		s.Skip()
	case "done_reason":
		l.reason = s.Text()
	case "prompt_eval_count":
		l.usage.PromptTokens, l.hasUsage = s.CountOr(0), true
	case "eval_count":
		l.usage.OutputTokens, l.hasUsage = s.CountOr(0), true
	default:
		l.fault.memberOrSkip(s, name)
	}
}

func (l *ollamaLine) readMessage(s *jsonscan.Scanner, calls *calls) {
	for name := range s.Members {
		switch string(name) {
		case "content":
			l.content = s.Text()
		case "thinking":
			l.thinking = s.Text()
		case "tool_calls":
			calls.readObjects(s)
		default:
			s.Skip()
		}
	}
}
