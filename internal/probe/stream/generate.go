package stream

// generate reads the events of Triton's generate_stream.
type generate struct{}

// NewGenerate returns the Decoder of Triton's generate extension, whose events
// have neither a finish reason nor usage.
func NewGenerate() Decoder { return generate{} }

// Decode implements Decoder.
func (generate) Decode(ev *Event, data []byte, named bool) bool {
	s := scanner{b: data}
	var f fault
	var output text
	for name := range s.root {
		if string(name) == "text_output" {
			output = s.optional()
		} else {
			f.memberOrSkip(&s, name)
		}
	}
	if !s.whole() {
		return false
	}
	f.fill(ev, data, named)
	ev.Content = output.decode()
	ev.settle()
	return true
}
