package stream

import (
	"bytes"

	"synthetic/internal/probe/stream/jsonscan"
)

// chat reads the chunks of a streamed chat completion.
type chat struct {
	prefix prefix
	// own is the index of the choice that is the answer, once known: the first
	// that came. Nobody asks for more than one.
	own   int
	known bool
	calls calls
	// textual says that choices have a text in place of a delta.
	textual bool
	// named says that a model was, marked that a fingerprint; of one stream all
	// chunks name the same.
	named, marked bool
}

// NewCompletions returns the Decoder of a streamed completion of a prompt.
func NewCompletions() Decoder { return &chat{textual: true} }

// NewChat returns the Decoder of a streamed chat completion.
func NewChat() Decoder { return &chat{} }

func (d *chat) Decode(ev *Event, data []byte, named bool) bool {
	var c chunk
	if !c.scan(data, d) {
		return false
	}
	if len(c.model.Raw) > 0 && !d.named {
		ev.Model, d.named = clip(c.model.Clone().Decode()), true
	}
	if len(c.fingerprint.Raw) > 0 && !d.marked {
		ev.Fingerprint, d.marked = clip(c.fingerprint.Clone().Decode()), true
	}
	ev.Worker = c.worker
	c.fill(ev, data, named, &d.calls)
	return true
}

// chunk is what one JSON text of the stream says, strings still escaped.
type chunk struct {
	choice   choice
	others   bool // another choice has a delta
	usage    Usage
	hasUsage bool
	fault    fault
	model    text
	// fingerprint is that of the system, worker the one that Dynamo's nvext names.
	fingerprint text
	worker      string
}

// choice is the element of "choices" that is the answer.
type choice struct {
	index  int
	delta  delta
	finish text
}

// delta is what a choice adds to the answer.
type delta struct {
	content, reasoning, reasoningContent, refusal text
	// tools says that tool calls came, function that one of the older form did.
	tools, function bool
}

func (d *delta) empty() bool {
	return len(d.content.Raw)+len(d.reasoning.Raw)+len(d.reasoningContent.Raw)+len(d.refusal.Raw) == 0 && !d.tools && !d.function
}

// scan reads one chunk. It reports false if data is not one valid JSON object.
func (c *chunk) scan(data []byte, d *chat) bool {
	s := jsonscan.New(data)
	p := &d.prefix
	switch {
	case p.of(data):
		s = jsonscan.Within(data, len(p.text))
		c.choices(&s, d)
	case s.Peek() == '{':
		s.Enter()
	default:
		return false
	}
	for s.Another('}') {
		name := s.Key()
		if string(name) == "choices" && !s.Bad() {
			p.keep(s.Before(), c)
		}
		c.member(&s, name, d)
	}
	return s.Whole()
}

// prefix is the beginning of a stream's last chunk, up to the value of
// "choices". The chunks of a stream say the same id, time and model over and
// over: what was found to be valid JSON, and of no interest, need not be
// scanned again, only compared.
type prefix struct {
	text []byte
}

// maxPrefix bounds what a stream keeps of its prefix, in bytes.
const maxPrefix = 512

// of reports whether data begins with the prefix.
func (p *prefix) of(data []byte) bool {
	return len(p.text) > 0 && bytes.HasPrefix(data, p.text)
}

// keep makes text the prefix, unless c learned something from it.
func (p *prefix) keep(text []byte, c *chunk) {
	if len(text) <= maxPrefix && c.blank() {
		p.text = append(p.text[:0], text...)
	}
}

// blank reports whether nothing was found that outlasts another "choices".
func (c *chunk) blank() bool {
	return !c.hasUsage && c.usage == Usage{} && c.fault.blank() && c.worker == ""
}

// readExtension reads {"worker_id": {"decode_worker_id": 1}}, which Dynamo's frontend
// adds to one chunk for a request that asks for it.
func (c *chunk) readExtension(s *jsonscan.Scanner) {
	members(s, func(name []byte) bool {
		if string(name) != "worker_id" {
			return false
		}
		members(s, func(name []byte) bool {
			if string(name) != "decode_worker_id" || s.Peek() != '-' && (s.Peek() < '0' || s.Peek() > '9') {
				return false
			}
			c.worker = clip(s.Number())
			return true
		})
		return true
	})
}

// members reads those of an object that read wants, and skips what is none.
func members(s *jsonscan.Scanner, read func(name []byte) bool) {
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	for name := range s.Members {
		if !read(name) {
			s.Skip()
		}
	}
}

// member reads the value of one top-level member. A name that comes twice
// counts the last time, as in every common JSON reader.
func (c *chunk) member(s *jsonscan.Scanner, name []byte, d *chat) {
	switch string(name) {
	case "choices":
		c.choice, c.others = choice{}, false
		c.choices(s, d)
	case "usage":
		c.usage, c.hasUsage = Usage{}, false
		c.readUsage(s)
	case "model":
		c.model = s.Optional()
	case "system_fingerprint":
		c.fingerprint = s.Optional()
	case "nvext":
		c.worker = ""
		c.readExtension(s)
	default:
		c.fault.memberOrSkip(s, name)
	}
}

func (c *chunk) choices(s *jsonscan.Scanner, d *chat) {
	for position := range s.Elements {
		if position > 0 { // hardly ever
			c.further(s, d, position)
			continue
		}
		c.choice.read(s, 0, &d.calls, d.textual)
		if !d.known && !s.Bad() {
			d.own, d.known = c.choice.index, true
		}
		if c.choice.index != d.own {
			c.others = !c.choice.delta.empty()
			c.choice = choice{index: none}
		}
	}
}

// none is the index of no choice.
const none = -1

// further reads a choice behind the first of a chunk.
func (c *chunk) further(s *jsonscan.Scanner, d *chat, position int) {
	var more choice
	var theirs calls
	more.read(s, position, &theirs, d.textual)
	if more.index == d.own && c.choice.index == none {
		c.choice, d.calls = more, theirs
		return
	}
	c.others = c.others || !more.delta.empty()
}

// read reads a choice; one that does not say its index has that of its position.
func (c *choice) read(s *jsonscan.Scanner, position int, to *calls, textual bool) {
	c.index = position
	for name := range s.Members {
		switch string(name) {
		case "index":
			if n, ok := s.Count(); ok {
				c.index = n
			}
		case "delta":
			c.delta = delta{}
			c.delta.read(s, to)
		case "finish_reason":
			c.finish = s.Optional()
		case "text":
			if t := s.Optional(); textual {
				c.delta.content = t
			}
		default:
			s.Skip()
		}
	}
}

func (d *delta) read(s *jsonscan.Scanner, to *calls) {
	for name := range s.Members {
		switch string(name) {
		case "content":
			d.content = s.Optional()
		case "reasoning":
			d.reasoning = s.Optional()
		case "reasoning_content":
			d.reasoningContent = s.Optional()
		case "refusal":
			d.refusal = s.Optional()
		case "tool_calls":
			to.reset()
			d.tools = to.readAll(s)
		case "function_call":
			if !d.tools {
				to.reset()
			}
			d.function = to.read(s, 0)
		default:
			s.Skip()
		}
	}
}

func (c *chunk) readUsage(s *jsonscan.Scanner) {
	var prompt, output bool
	for name := range s.Members {
		switch string(name) {
		case "prompt_tokens":
			c.usage.PromptTokens, prompt = s.Count()
		case "completion_tokens":
			c.usage.OutputTokens, output = s.Count()
		case "prompt_tokens_details":
			c.usage.CachedTokens, c.usage.CachedKnown = readDetail(s, "cached_tokens")
		case "completion_tokens_details":
			c.usage.ReasoningTokens, c.usage.ReasoningKnown = readDetail(s, "reasoning_tokens")
		default:
			s.Skip()
		}
	}
	c.hasUsage = prompt || output
}

// readDetail reads an object, or null, and returns its count called name.
func readDetail(s *jsonscan.Scanner, name string) (n int, ok bool) {
	for member := range s.Members {
		if string(member) == name {
			n, ok = s.Count()
		} else {
			s.Skip()
		}
	}
	return n, ok
}
