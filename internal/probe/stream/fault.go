package stream

import "bytes"

// fault is what a JSON text says of a failure, in the shapes of many servers.
type fault struct {
	failed  bool // a non-null "error" came
	reason  text // its message
	isError bool // "object" is "error": the text as a whole is one
	message text // of such a text
	detail  text // the same as some frameworks call it
}

func (f *fault) blank() bool {
	return !f.failed && !f.isError && len(f.message.raw) == 0 && len(f.detail.raw) == 0
}

// member reads the value of a top-level member if it is one of a failure's.
func (f *fault) member(s *scanner, name []byte) bool {
	switch string(name) {
	case "error":
		f.failed, f.reason = false, text{}
		f.read(s)
	case "object":
		f.isError = string(s.optional().raw) == "error"
	case "message":
		f.message = s.optional()
	case "detail":
		f.detail = s.optional()
	default:
		return false
	}
	return true
}

// memberOrSkip is for what else may stand beside what a failure has to say.
func (f *fault) memberOrSkip(s *scanner, name []byte) {
	if !f.member(s, name) {
		s.skip()
	}
}

// read reads the many shapes of an error: a string, or an object with a
// message. Null, false and "" are none.
func (f *fault) read(s *scanner) {
	switch s.peek() {
	case 'n', 'f':
		s.skip()
	case '"':
		f.reason = s.str()
		f.failed = len(f.reason.raw) > 0
	case '{':
		f.failed = true
		for name := range s.members {
			if string(name) == "message" {
				f.reason = s.optional()
			} else {
				s.skip()
			}
		}
	default:
		f.failed = true
		s.skip()
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
		if len(t.raw) > 0 {
			return clip(text{bytes.Clone(t.raw), t.escaped}.decode())
		}
	}
	return clip(data)
}

// faultOf reads what a JSON object says of a failure.
func faultOf(data []byte) (f fault, ok bool) {
	s := scanner{b: data}
	for name := range s.root {
		f.memberOrSkip(&s, name)
	}
	return f, s.whole()
}
