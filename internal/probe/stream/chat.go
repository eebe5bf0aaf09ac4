package stream

import "bytes"

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
	// named says that a model was; of one stream all chunks name the same.
	named bool
}

// NewCompletions returns the Decoder of a streamed completion of a prompt.
func NewCompletions() Decoder { return &chat{textual: true} }

// NewChat returns the Decoder of a streamed chat completion.
func NewChat() Decoder { return &chat{} }

// Decode implements Decoder.
func (d *chat) Decode(ev *Event, data []byte, named bool) bool {
	var c chunk
	if !c.scan(data, d) {
		return false
	}
	if len(c.model.raw) > 0 && !d.named {
		ev.Model, d.named = clip(text{bytes.Clone(c.model.raw), c.model.escaped}.decode()), true
	}
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
	return len(d.content.raw)+len(d.reasoning.raw)+len(d.reasoningContent.raw)+len(d.refusal.raw) == 0 && !d.tools && !d.function
}

// scan reads one chunk. It reports false if data is not one valid JSON object.
func (c *chunk) scan(data []byte, d *chat) bool {
	s := scanner{b: data}
	p := &d.prefix
	switch {
	case p.of(data):
		s.i, s.depth = len(p.text), 1
		c.choices(&s, d)
	case s.peek() == '{':
		s.enter()
	default:
		return false
	}
	for s.another('}') {
		name := s.key()
		if string(name) == "choices" && !s.bad {
			p.keep(data[:s.i], c)
		}
		c.member(&s, name, d)
	}
	return s.whole()
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
	return !c.hasUsage && c.usage == Usage{} && c.fault.blank()
}

// member reads the value of one top-level member. A name that comes twice
// counts the last time, as in every common JSON reader.
func (c *chunk) member(s *scanner, name []byte, d *chat) {
	switch string(name) {
	case "choices":
		c.choice, c.others = choice{}, false
		c.choices(s, d)
	case "usage":
		c.usage, c.hasUsage = Usage{}, false
		c.readUsage(s)
	case "model":
		c.model = s.optional()
	default:
		c.fault.memberOrSkip(s, name)
	}
}

func (c *chunk) choices(s *scanner, d *chat) {
	for position := range s.elements {
		if position > 0 { // hardly ever
			c.further(s, d, position)
			continue
		}
		c.choice.read(s, 0, &d.calls, d.textual)
		if !d.known && !s.bad {
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
func (c *chunk) further(s *scanner, d *chat, position int) {
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
func (c *choice) read(s *scanner, position int, to *calls, textual bool) {
	c.index = position
	for name := range s.members {
		switch string(name) {
		case "index":
			if n, ok := s.count(); ok {
				c.index = n
			}
		case "delta":
			c.delta = delta{}
			c.delta.read(s, to)
		case "finish_reason":
			c.finish = s.optional()
		case "text":
			if t := s.optional(); textual {
				c.delta.content = t
			}
		default:
			s.skip()
		}
	}
}

func (d *delta) read(s *scanner, to *calls) {
	for name := range s.members {
		switch string(name) {
		case "content":
			d.content = s.optional()
		case "reasoning":
			d.reasoning = s.optional()
		case "reasoning_content":
			d.reasoningContent = s.optional()
		case "refusal":
			d.refusal = s.optional()
		case "tool_calls":
			to.reset()
			d.tools = to.readAll(s)
		case "function_call":
			if !d.tools {
				to.reset()
			}
			d.function = to.read(s, 0)
		default:
			s.skip()
		}
	}
}

func (c *chunk) readUsage(s *scanner) {
	var prompt, output bool
	for name := range s.members {
		switch string(name) {
		case "prompt_tokens":
			c.usage.PromptTokens, prompt = s.count()
		case "completion_tokens":
			c.usage.OutputTokens, output = s.count()
		case "prompt_tokens_details":
			c.usage.CachedTokens, c.usage.CachedKnown = readDetail(s, "cached_tokens")
		case "completion_tokens_details":
			c.usage.ReasoningTokens, c.usage.ReasoningKnown = readDetail(s, "reasoning_tokens")
		default:
			s.skip()
		}
	}
	c.hasUsage = prompt || output
}

// readDetail reads an object, or null, and returns its count called name.
func readDetail(s *scanner, name string) (n int, ok bool) {
	for member := range s.members {
		if string(member) == name {
			n, ok = s.count()
		} else {
			s.skip()
		}
	}
	return n, ok
}
