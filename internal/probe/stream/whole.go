package stream

// whole reads answers that come in one JSON text, and of which only that they
// are there matters.
type whole struct {
	list string // the member that holds them
}

// NewWhole returns the Decoder of an answer that is one JSON text, read with
// Options.Document. It is Done, with the finish reason stop, if the list called
// by a name has an element.
func NewWhole(list string) Decoder { return whole{list} }

// Decode implements Decoder.
func (w whole) Decode(ev *Event, data []byte, named bool) bool {
	s := scanner{b: data}
	if s.peek() != '{' {
		return false
	}
	var c chunk
	found := false
	for s.enter(); s.another('}'); {
		switch name := s.key(); {
		case string(name) == w.list:
			found = s.filled()
		case string(name) == "usage":
			c.readUsage(&s)
		case !c.fault.member(&s, name):
			s.skip()
		}
	}
	if !s.whole() {
		return false
	}
	ev.Kind = Done
	c.fault.fill(ev, data, named)
	if ev.Usage, ev.HasUsage = c.usage, c.hasUsage; found {
		ev.FinishReason = "stop"
	}
	return true
}
