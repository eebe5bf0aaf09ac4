package stream

import "synthetic/internal/probe/stream/jsonscan"

// generate decodes the events of Triton's generate_stream.
type generate struct{}

// NewGenerate returns the Decoder of Triton's generate extension. Its events have neither a finish
// reason nor usage.
func NewGenerate() Decoder { return generate{} }

func (generate) Decode(ev *Event, data []byte, isError bool) bool {
	s := jsonscan.New(data)
	var f fault
	var output text
	for name := range s.Root {
		if string(name) == "text_output" {
			output = s.Text()
		} else {
			f.memberOrSkip(&s, name)
		}
	}
	if !s.Valid() {
		return false
	}
	f.fill(ev, data, isError)
	ev.Content = output.Decode()
	ev.markToken()
	return true
}

// document decodes an answer that is one JSON text without tokens.
type document struct {
	list string
}

// NewDocument returns the Decoder of such an answer, for Options.Document. The answer is a Done. Its
// finish reason is stop if the member named list is not empty.
func NewDocument(list string) Decoder { return document{list} }

func (d document) Decode(ev *Event, data []byte, isError bool) bool {
	s := jsonscan.New(data)
	var c chunk
	found := false
	for name := range s.Root {
		switch string(name) {
		case d.list:
			for range s.Elements {
				s.Skip()
				found = true
			}
		case "usage":
			c.usage, c.hasUsage = readUsage(&s, "prompt_tokens", "completion_tokens")
		default:
			c.fault.memberOrSkip(&s, name)
		}
	}
	if !s.Valid() {
		return false
	}
	ev.Kind = Done
	c.fault.fill(ev, data, isError)
	if ev.Usage, ev.HasUsage = c.usage, c.hasUsage; found {
		ev.FinishReason = "stop"
	}
	return true
}
