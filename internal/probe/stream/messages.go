package stream

import "synthetic/internal/probe/stream/jsonscan"

// messages decodes the events of Anthropic's /v1/messages.
type messages struct {
	usage messagesUsage // so far; the events have it in parts
	calls calls
}

// NewMessages returns the Decoder of streamed messages of Anthropic's API.
func NewMessages() Decoder { return &messages{} }

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

func (d *messages) Decode(ev *Event, data []byte, isError bool) bool {
	s := jsonscan.New(data)
	var e messagesEvent
	for name := range s.Root {
		d.member(&e, &s, name)
	}
	if !s.Valid() {
		return false
	}
	e.fault.fill(ev, data, isError || string(e.kind.Raw) == "error")
	ev.Content, ev.Reasoning = e.text.Decode(), e.thinking.Decode()
	e.tool.index = e.index
	d.calls.set(e.tool)
	ev.ToolCalls = d.calls.decode()
	ev.markFinish(e.stop.Decode())
	ev.Thinks = e.thinks
	ev.Usage, ev.HasUsage = d.usage.total(), e.hasUsage
	if string(e.kind.Raw) == "message_stop" && ev.Kind == Other {
		ev.Kind = Done
	}
	ev.markToken()
	return true
}

func (d *messages) member(e *messagesEvent, s *jsonscan.Scanner, name []byte) {
	switch string(name) {
	case "type":
		e.kind = s.Text()
	case "index":
		e.index, _ = s.Count()
	case "delta", "content_block":
		e.readPart(s)
	case "message":
		for range s.Only("usage") {
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
func (e *messagesEvent) readPart(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "text":
			e.text = s.Text()
		case "thinking":
			e.thinking = s.Text()
		case "signature", "data": // of thinking, also of redacted one
			e.thinks = len(s.Text().Raw) > 0 || e.thinks
		case "id":
			e.tool.id = s.Text()
		case "name":
			e.tool.name = s.Text()
		case "partial_json":
			e.tool.arguments = s.Text()
		case "stop_reason":
			e.stop = s.Text()
		default:
			s.Skip()
		}
	}
}

// read reads the counts of an event. They replace the earlier ones unless the prompt becomes smaller: some
// gateways end with an input of 0.
func (u *messagesUsage) read(s *jsonscan.Scanner) {
	next := *u
	for name := range s.Members {
		count := &next.input
		switch string(name) {
		case "input_tokens":
		case "cache_read_input_tokens":
			if s.Peek()-'0' <= 9 {
				next.cachedKnown = true
			}
			count = &next.cached
		case "cache_creation_input_tokens":
			count = &next.written
		case "output_tokens":
			count = &next.output
		default:
			s.Skip()
			continue
		}
		if n := s.CountOr(0); n > 0 {
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
