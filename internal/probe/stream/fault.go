package stream

import "synthetic/internal/probe/stream/jsonscan"

// fault is what a JSON object says about a failure, in the formats of many servers.
type fault struct {
	failed  bool // there is an "error" that is not null
	reason  text // the message of that error
	isError bool // "object" is "error", so the whole object is one
	message text
	detail  text
}

func (f *fault) blank() bool {
	return !f.failed && !f.isError && len(f.message.Raw) == 0 && len(f.detail.Raw) == 0
}

// memberOrSkip reads the value of a top-level member if it belongs to a failure.
func (f *fault) memberOrSkip(s *jsonscan.Scanner, name []byte) {
	switch string(name) {
	case "error":
		f.read(s)
	case "object":
		f.isError = string(s.Text().Raw) == "error"
	case "message":
		f.message = s.Text()
	case "detail":
		f.detail = s.Text()
	default:
		s.Skip()
	}
}

// read reads an error: a string, an object with a message, or another value. Null, false and "" are
// no error.
func (f *fault) read(s *jsonscan.Scanner) {
	f.failed, f.reason = true, text{}
	switch s.Peek() {
	case 'n', 'f':
		f.failed = false
		s.Skip()
	case '"':
		f.reason = s.Text()
		f.failed = len(f.reason.Raw) > 0
	default:
		for range s.Only("message") {
			f.reason = s.Text()
		}
	}
}

// fill makes ev an Error if data describes a failure.
func (f *fault) fill(ev *Event, data []byte, isError bool) {
	if isError || f.failed || f.isError {
		ev.Kind, ev.Message = Error, f.text(data)
	}
}

// text returns the message of a failure, or else the start of data.
func (f *fault) text(data []byte) string {
	message := f.reason.Or(f.message).Or(f.detail)
	if len(message.Raw) > 0 {
		return clip(message.Clone().Decode())
	}
	return clip(data)
}

// parseFault returns false if data is not a JSON object.
func parseFault(data []byte) (f fault, ok bool) {
	s := jsonscan.New(data)
	for name := range s.Root {
		f.memberOrSkip(&s, name)
	}
	return f, s.Valid()
}
