package stream

import "synthetic/internal/probe/stream/jsonscan"

// messages reads the events of Anthropic's /v1/messages.
type messages struct {
	// usage is what the events so far have said of it, in parts.
	usage messagesUsage
	calls calls
}

// NewMessages returns the Decoder of a streamed message of Anthropic's API.
func NewMessages() Decoder { return &messages{} }

// messagesUsage are the counts of a message. Its input leaves out what was read
// from the cache, or written to it.
type messagesUsage struct {
	input, cached, written, output int
	cachedKnown                    bool
}

// messagesEvent is what one event says, strings still escaped.
type messagesEvent struct {
	kind           text
	index          int
	text, thinking text
	tool           call
	stop           text
	used           bool
	fault          fault
}

func (d *messages) Decode(ev *Event, data []byte, named bool) bool {
	s := jsonscan.New(data)
	var e messagesEvent
	for name := range s.Root {
		d.member(&e, &s, name)
	}
	if !s.Whole() {
		return false
	}
	e.fault.fill(ev, data, named || string(e.kind.Raw) == "error")
	ev.Content, ev.Reasoning = e.text.Decode(), e.thinking.Decode()
	e.tool.index = e.index
	d.calls.take(e.tool)
	ev.ToolCalls = d.calls.decode()
	ev.FinishReason = FinishReason(e.stop.Decode())
	ev.Usage, ev.HasUsage = d.usage.whole(), e.used
	if string(e.kind.Raw) == "message_stop" && ev.Kind == Other {
		ev.Kind = Done
	}
	ev.settle()
	return true
}

func (d *messages) member(e *messagesEvent, s *jsonscan.Scanner, name []byte) {
	switch string(name) {
	case "type":
		e.kind = s.Optional()
	case "index":
		e.index, _ = s.Count()
	case "delta", "content_block":
		e.part(s)
	case "message":
		for name := range s.Members {
			if string(name) != "usage" {
				s.Skip()
				continue
			}
			d.usage.read(s)
			d.usage.output = 0 // of an answer that has only begun
			e.used = true
		}
	case "usage":
		d.usage.read(s)
		e.used = true
	default:
		e.fault.memberOrSkip(s, name)
	}
}

// part reads what is added to the message, or the beginning of a block of it.
func (e *messagesEvent) part(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "text":
			e.text = s.Optional()
		case "thinking":
			e.thinking = s.Optional()
		case "id":
			e.tool.id = s.Optional()
		case "name":
			e.tool.name = s.Optional()
		case "partial_json":
			e.tool.arguments = s.Optional()
		case "stop_reason":
			e.stop = s.Optional()
		default:
			s.Skip()
		}
	}
}

func (u *messagesUsage) read(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "input_tokens":
			u.input = s.CountOr(u.input)
		case "cache_read_input_tokens":
			if n, ok := s.Count(); ok {
				u.cached, u.cachedKnown = n, true
			}
		case "cache_creation_input_tokens":
			u.written = s.CountOr(u.written)
		case "output_tokens":
			u.output = s.CountOr(u.output)
		default:
			s.Skip()
		}
	}
}

// whole are the counts as other APIs have them.
func (u *messagesUsage) whole() Usage {
	return Usage{
		PromptTokens: u.input + u.cached + u.written, OutputTokens: u.output,
		CachedTokens: u.cached, CachedKnown: u.cachedKnown,
	}
}
