package stream

import "synthetic/internal/probe/stream/jsonscan"

// generate reads the events of Triton's generate_stream.
type generate struct{}

// NewGenerate returns the Decoder of Triton's generate extension, whose events
// have neither a finish reason nor usage.
func NewGenerate() Decoder { return generate{} }

func (generate) Decode(ev *Event, data []byte, named bool) bool {
	s := jsonscan.New(data)
	var f fault
	var output text
	for name := range s.Root {
		if string(name) == "text_output" {
			output = s.Optional()
		} else {
			f.memberOrSkip(&s, name)
		}
	}
	if !s.Whole() {
		return false
	}
	f.fill(ev, data, named)
	ev.Content = output.Decode()
	ev.settle()
	return true
}
