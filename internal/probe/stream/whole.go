package stream

import "synthetic/internal/probe/stream/jsonscan"

// whole reads answers that come in one JSON text, and of which only that they
// are there matters.
type whole struct {
	list string // the member that holds them
}

// NewWhole returns the Decoder of an answer that is one JSON text, read with
// Options.Document. It is Done, with the finish reason stop, if the list called
// by a name has an element.
func NewWhole(list string) Decoder { return whole{list} }

func (w whole) Decode(ev *Event, data []byte, named bool) bool {
	s := jsonscan.New(data)
	var c chunk
	found := false
	for name := range s.Root {
		switch string(name) {
		case w.list:
			for range s.Elements {
				s.Skip()
				found = true
			}
		case "usage":
			c.readUsage(&s)
		default:
			c.fault.memberOrSkip(&s, name)
		}
	}
	if !s.Whole() {
		return false
	}
	ev.Kind = Done
	c.fault.fill(ev, data, named)
	if ev.Usage, ev.HasUsage = c.usage, c.hasUsage; found {
		ev.FinishReason = "stop"
	}
	return true
}
