package stream

import "bytes"

// chunk is what one JSON text of the stream says, strings still escaped.
type chunk struct {
	choice   choice
	usage    Usage
	hasUsage bool

	failed  bool // a non-null "error" came
	reason  text // its message
	isError bool // "object" is "error": the chunk as a whole is one
	message text // of such a chunk
	detail  text // the same as some frameworks call it
}

// choice is the first element of "choices".
type choice struct {
	delta  delta
	finish text
}

// delta is what a choice adds to the answer.
type delta struct {
	content, reasoning, reasoningContent, refusal text
	tool                                          bool
}

// scan reads one chunk. It reports false if data is not one valid JSON object.
func (c *chunk) scan(data []byte, p *prefix) bool {
	s := scanner{b: data}
	switch {
	case p.of(data):
		s.i, s.depth = len(p.text), 1
		c.choices(&s)
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
		c.member(&s, name)
	}
	return !s.bad && s.peek() == 0 && s.i == len(data)
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
	return !c.hasUsage && c.usage == Usage{} && !c.failed && !c.isError &&
		len(c.message.raw) == 0 && len(c.detail.raw) == 0
}

// member reads the value of one top-level member. A name that comes twice
// counts the last time, as in every common JSON reader.
func (c *chunk) member(s *scanner, name []byte) {
	switch string(name) {
	case "choices":
		c.choice = choice{}
		c.choices(s)
	case "usage":
		c.usage, c.hasUsage = Usage{}, false
		c.readUsage(s)
	case "error":
		c.failed, c.reason = false, text{}
		c.readError(s)
	case "object":
		c.isError = string(s.optional().raw) == "error"
	case "message":
		c.message = s.optional()
	case "detail":
		c.detail = s.optional()
	default:
		s.skip()
	}
}

func (c *chunk) choices(s *scanner) {
	if s.peek() != '[' {
		s.skip()
		return
	}
	first := true
	for s.enter(); s.another(']'); first = false {
		if !first || s.peek() != '{' {
			s.skip()
			continue
		}
		for s.enter(); s.another('}'); {
			switch string(s.key()) {
			case "delta":
				c.choice.delta = delta{}
				c.choice.delta.read(s)
			case "finish_reason":
				c.choice.finish = s.optional()
			default:
				s.skip()
			}
		}
	}
}

func (d *delta) read(s *scanner) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	var tools, function bool
	for s.enter(); s.another('}'); {
		switch string(s.key()) {
		case "content":
			d.content = s.optional()
		case "reasoning":
			d.reasoning = s.optional()
		case "reasoning_content":
			d.reasoningContent = s.optional()
		case "refusal":
			d.refusal = s.optional()
		case "tool_calls":
			tools = readTools(s)
		case "function_call":
			function = readTool(s)
		default:
			s.skip()
		}
	}
	d.tool = tools || function
}

// readTools reports whether an element of tool_calls adds anything.
func readTools(s *scanner) bool {
	if s.peek() != '[' {
		s.skip()
		return false
	}
	any := false
	for s.enter(); s.another(']'); {
		any = readTool(s) || any
	}
	return any
}

// readTool reports whether a tool call, or the function in it, has a non-empty
// name, id or arguments.
func readTool(s *scanner) bool {
	if s.peek() != '{' {
		s.skip()
		return false
	}
	any := false
	for s.enter(); s.another('}'); {
		switch string(s.key()) {
		case "id", "name", "arguments", "input":
			any = len(s.optional().raw) > 0 || any
		case "function", "custom":
			any = readTool(s) || any
		default:
			s.skip()
		}
	}
	return any
}

func (c *chunk) readUsage(s *scanner) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	var prompt, output bool
	for s.enter(); s.another('}'); {
		switch string(s.key()) {
		case "prompt_tokens":
			c.usage.PromptTokens, prompt = s.count()
		case "completion_tokens":
			c.usage.OutputTokens, output = s.count()
		case "prompt_tokens_details":
			c.usage.CachedTokens, c.usage.CachedKnown = readDetail(s, "cached_tokens")
		case "completion_tokens_details":
			c.usage.ReasoningTokens, _ = readDetail(s, "reasoning_tokens")
		default:
			s.skip()
		}
	}
	c.hasUsage = prompt || output
}

// readDetail reads an object, or null, and returns its count called name.
func readDetail(s *scanner, name string) (n int, ok bool) {
	if s.peek() != '{' {
		s.skip()
		return 0, false
	}
	for s.enter(); s.another('}'); {
		if string(s.key()) == name {
			n, ok = s.count()
		} else {
			s.skip()
		}
	}
	return n, ok
}

// readError reads the many shapes of an error: a string, or an object with a
// message. Null, false and "" are none.
func (c *chunk) readError(s *scanner) {
	switch s.peek() {
	case 'n', 'f':
		s.skip()
	case '"':
		c.reason = s.str()
		c.failed = len(c.reason.raw) > 0
	case '{':
		c.failed = true
		for s.enter(); s.another('}'); {
			if string(s.key()) == "message" {
				c.reason = s.optional()
			} else {
				s.skip()
			}
		}
	default:
		c.failed = true
		s.skip()
	}
}
