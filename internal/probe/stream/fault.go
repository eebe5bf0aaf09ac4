package stream

import "synthetic/internal/probe/stream/jsonscan"

// fault is what a JSON text says of a failure, in the shapes of many servers.
type fault struct {
	failed  bool // a non-null "error" came
	reason  text // its message
	isError bool // "object" is "error": the text as a whole is one
	message text // of such a text
	detail  text // the same as some frameworks call it
}

func (f *fault) blank() bool {
	return !f.failed && !f.isError && len(f.message.Raw) == 0 && len(f.detail.Raw) == 0
}

// member reads the value of a top-level member if it is one of a failure's.
func (f *fault) member(s *jsonscan.Scanner, name []byte) bool {
	switch string(name) {
	case "error":
		f.failed, f.reason = false, text{}
		f.read(s)
	case "object":
		f.isError = string(s.Optional().Raw) == "error"
	case "message":
		f.message = s.Optional()
	case "detail":
		f.detail = s.Optional()
	default:
		return false
	}
	return true
}

// memberOrSkip is for what else may stand beside what a failure has to say.
func (f *fault) memberOrSkip(s *jsonscan.Scanner, name []byte) {
	if !f.member(s, name) {
		s.Skip()
	}
}

// read reads the many shapes of an error: a string, or an object with a
// message. Null, false and "" are none.
func (f *fault) read(s *jsonscan.Scanner) {
	switch s.Peek() {
	case 'n', 'f':
		s.Skip()
	case '"':
		f.reason = s.Optional()
		f.failed = len(f.reason.Raw) > 0
	case '{':
		f.failed = true
		for name := range s.Members {
			if string(name) == "message" {
				f.reason = s.Optional()
			} else {
				s.Skip()
			}
		}
	default:
		f.failed = true
		s.Skip()
	}
}

// fill makes an Error of an event whose payload, data, says so.
func (f *fault) fill(ev *Event, data []byte, named bool) {
	if named || f.failed || f.isError {
		ev.Kind, ev.Message = Error, f.text(data)
	}
}

// text returns the most telling text of an error, the whole of it if it names
// none.
func (f *fault) text(data []byte) string {
	for _, t := range []text{f.reason, f.message, f.detail} {
		if len(t.Raw) > 0 {
			return clip(t.Clone().Decode())
		}
	}
	return clip(data)
}

// faultOf reads what a JSON object says of a failure.
func faultOf(data []byte) (f fault, ok bool) {
	s := jsonscan.New(data)
	for name := range s.Root {
		f.memberOrSkip(&s, name)
	}
	return f, s.Whole()
}
