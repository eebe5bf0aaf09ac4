package stream

import "synthetic/internal/probe/stream/jsonscan"

// ToolCall is what one event adds to a tool call of the answer: of the events
// that have the same Index, the arguments are to be joined.
type ToolCall struct {
	// Index tells the calls of an answer apart.
	Index int
	// ID, Name and Arguments are nil where the event does not say them; a name
	// and an id come once, the arguments in pieces. They are valid as long as
	// the event is.
	ID, Name, Arguments []byte
}

// maxCalls bounds the calls that are read of one event.
const maxCalls = 256

// text is a string as it stands in the payload of an event.
type text = jsonscan.Text

// call is a ToolCall as it stands in the JSON text.
type call struct {
	index               int
	id, name, arguments text
}

func (c *call) empty() bool { return len(c.id.Raw)+len(c.name.Raw)+len(c.arguments.Raw) == 0 }

// calls are those of an event. Their memory serves the next one.
type calls struct {
	raw []call
	out []ToolCall
	// objects counts the calls of the stream that came whole.
	objects int
}

func (c *calls) reset() { c.raw = c.raw[:0] }

// readAll reads the calls of a list, and reports whether any adds something.
func (c *calls) readAll(s *jsonscan.Scanner) bool {
	any := false
	for position := range s.Elements {
		any = c.read(s, position) || any
	}
	return any
}

// read reads a call; one that does not say its index has that of its position.
// It reports whether the call adds something.
func (c *calls) read(s *jsonscan.Scanner, position int) bool {
	one := call{index: position}
	one.read(s)
	c.add(one)
	return !one.empty()
}

func (c *calls) add(one call) {
	if !one.empty() && len(c.raw) < maxCalls {
		c.raw = append(c.raw, one)
	}
}

// take makes the calls those of an event that has one at most.
func (c *calls) take(one call) {
	c.reset()
	c.add(one)
}

// readObjects reads the calls of a list whose arguments are objects, and no
// texts of such: each is a whole call.
func (c *calls) readObjects(s *jsonscan.Scanner) {
	for range s.Elements {
		one := call{index: c.objects}
		one.readObject(s)
		c.add(one)
		c.objects++
	}
}

func (c *call) readObject(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "id":
			c.id = s.Optional()
		case "function":
			c.readObject(s)
		case "name":
			c.name = s.Optional()
		case "arguments":
			c.arguments = s.Object()
		default:
			s.Skip()
		}
	}
}

// read reads a call, or the function in it.
func (c *call) read(s *jsonscan.Scanner) {
	for name := range s.Members {
		switch string(name) {
		case "index":
			if n, ok := s.Count(); ok {
				c.index = n
			}
		case "id":
			c.id = s.Optional().Or(c.id)
		case "name":
			c.name = s.Optional().Or(c.name)
		case "arguments", "input":
			c.arguments = s.Optional().Or(c.arguments)
		case "function", "custom":
			c.read(s)
		default:
			s.Skip()
		}
	}
}

// decode returns the calls, nil for none.
func (c *calls) decode() []ToolCall {
	c.out = c.out[:0]
	for _, one := range c.raw {
		c.out = append(c.out, ToolCall{one.index, one.id.Decode(), one.name.Decode(), one.arguments.Decode()})
	}
	if len(c.out) == 0 {
		return nil
	}
	return c.out
}
