package dialect

// ToolCall is the part of a tool call in one event. The arguments of a call are those of all events
// with its Index, joined.
type ToolCall struct {
	Index int
	// ID, Name and Arguments are nil if the event does not have them. ID and Name come once,
	// Arguments in pieces. The next event overwrites them.
	ID, Name, Arguments []byte
}

// maxCalls limits the calls of one event.
const maxCalls = 256

// call is a ToolCall with its strings still escaped.
type call struct {
	index               int
	id, name, arguments text
}

func (c *call) empty() bool { return len(c.id.raw)+len(c.name.raw)+len(c.arguments.raw) == 0 }

// calls holds the calls of an event. The next event uses its memory again.
type calls struct {
	raw []call
	out []ToolCall
	// seen says that an event of the stream had a call.
	seen bool
}

func (c *calls) reset() { c.raw = c.raw[:0] }

// readAll reads a list of calls. It returns false if all are empty.
func (c *calls) readAll(s *scanner) bool {
	found := false
	for position := range s.elements {
		found = c.read(s, position) || found
	}
	return found
}

// read reads a call. Its position in the list is the default of its index.
func (c *calls) read(s *scanner, position int) (found bool) {
	next := call{index: position}
	next.read(s)
	c.add(next)
	return !next.empty()
}

func (c *calls) add(next call) {
	if !next.empty() && len(c.raw) < maxCalls {
		c.raw = append(c.raw, next)
	}
}

func (c *calls) set(only call) {
	c.reset()
	c.add(only)
}

func (c *call) read(s *scanner) {
	for name := range s.members {
		switch string(name) {
		case "index":
			c.index = s.countOr(c.index)
		case "id":
			c.id = s.text().or(c.id)
		case "name":
			c.name = s.text().or(c.name)
		case "arguments", "input":
			c.arguments = s.text().or(c.arguments)
		case "function", "custom":
			c.read(s)
		default:
			s.skip()
		}
	}
}

// decode returns the calls, or nil if there are none.
func (c *calls) decode() []ToolCall {
	c.out = c.out[:0]
	for _, raw := range c.raw {
		c.out = append(c.out, ToolCall{raw.index, raw.id.decode(), raw.name.decode(), raw.arguments.decode()})
	}
	if len(c.out) == 0 {
		return nil
	}
	c.seen = true
	return c.out
}
