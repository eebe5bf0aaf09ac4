package stream

import "synthetic/internal/probe/stream/jsonscan"

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

type text = jsonscan.Text

// call is a ToolCall with its strings still escaped.
type call struct {
	index               int
	id, name, arguments text
}

func (c *call) empty() bool { return len(c.id.Raw)+len(c.name.Raw)+len(c.arguments.Raw) == 0 }

// calls holds the calls of an event. The next event uses its memory again.
type calls struct {
	raw []call
	out []ToolCall
	// seen says that an event of the stream had a call.
	seen bool
}

func (c *calls) reset() { c.raw = c.raw[:0] }

// readAll reads a list of calls. It returns false if all are empty.
func (c *calls) readAll(s *jsonscan.Scanner) bool {
	found := false
	for position := range s.Elements {
		found = c.read(s, position) || found
	}
	return found
}

// read reads a call. Its position in the list is the default of its index.
func (c *calls) read(s *jsonscan.Scanner, position int) (found bool) {
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

func (c *call) read(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "index":
			c.index = s.CountOr(c.index)
		case "id":
			c.id = s.Text().Or(c.id)
		case "name":
			c.name = s.Text().Or(c.name)
		case "arguments", "input":
			c.arguments = s.Text().Or(c.arguments)
		case "function", "custom":
			c.read(s)
		default:
			s.Skip()
		}
	}
}

// decode returns the calls, or nil if there are none.
func (c *calls) decode() []ToolCall {
	c.out = c.out[:0]
	for _, raw := range c.raw {
		c.out = append(c.out, ToolCall{raw.index, raw.id.Decode(), raw.name.Decode(), raw.arguments.Decode()})
	}
	if len(c.out) == 0 {
		return nil
	}
	c.seen = true
	return c.out
}
