package dialect

import (
	"bytes"
)

// fault is what a JSON text says about a failure, in the formats of many servers.
type fault struct {
	failed  bool // there is an "error" that is not null, or a list of "errors"
	reason  text // the message of that error
	isError bool // "object" is "error", so the whole object is one
	message text
	detail  text
}

func (f *fault) blank() bool {
	return !f.failed && !f.isError && len(f.message.raw) == 0 && len(f.detail.raw) == 0
}

// memberOrSkip reads the value of a top-level member if it belongs to a failure.
func (f *fault) memberOrSkip(s *scanner, name []byte) {
	switch string(name) {
	case "error": // OpenAI and most others
		f.read(s)
	case "errors": // several, as of Cloudflare
		for range s.elements {
			f.read(s)
		}
	case "object": // vLLM before 0.10: {"object": "error", "message": …}
		f.isError = string(s.text().raw) == "error"
	case "message", "error_msg": // the second is Baidu's
		f.message = s.text()
	case "detail": // FastAPI: a string, or a list of {"loc": …, "msg": …}
		f.detail = firstMessage(s, maxParts)
	default:
		s.skip()
	}
}

// read reads an error: a string, an object with a message, a list of them, or another value. Null, false
// and an empty string, object or list are no error.
func (f *fault) read(s *scanner) {
	next, before := s.peek(), len(s.scanned())
	reason := firstMessage(s, maxParts)
	hollow := len(bytes.Trim(s.scanned()[before:], "[]{}, \t\r\n")) == 0
	if next != 'n' && next != 'f' && (next != '"' || len(reason.raw) > 0) && !hollow {
		f.failed, f.reason = true, f.reason.or(reason)
	}
}

// firstMessage consumes a value and returns its first text that describes an error. depth limits how deep
// it looks.
func firstMessage(s *scanner, depth int) (message text) {
	switch next := s.peek(); {
	case next == '"':
		return s.text()
	case next == '[' && depth > 0:
		for range s.elements {
			message = message.or(firstMessage(s, depth-1))
		}
	case next == '{' && depth > 0:
		for name := range s.members {
			switch string(name) {
			case "message", "msg", "error", "detail":
				message = message.or(firstMessage(s, depth-1))
			default:
				s.skip()
			}
		}
	default:
		s.skip()
	}
	return message
}

// fill makes ev an Error if data describes a failure. Another event keeps its message, which may be the reason why
// nothing follows.
func (f *fault) fill(ev *Event, data []byte, isError bool) {
	if isError || f.failed || f.isError {
		ev.Kind, ev.Message = Error, f.text(data)
	} else if len(f.message.raw)+len(f.detail.raw) > 0 {
		ev.Message = f.text(data)
	}
}

// text returns the message of a failure, or else the start of data.
func (f *fault) text(data []byte) string {
	message := f.reason.or(f.message).or(f.detail)
	if len(message.raw) > 0 {
		return clip(message.clone().decode())
	}
	return clip(data)
}

// parseFault returns false if data is not a JSON object or a list of them.
func parseFault(data []byte) (f fault, ok bool) {
	s := newScanner(data)
	members := func() {
		for name := range s.members {
			f.memberOrSkip(&s, name)
		}
	}
	switch s.peek() {
	case '{':
		members()
	case '[': // Gemini
		for range s.elements {
			members()
		}
	default:
		return f, false
	}
	return f, s.valid()
}

// listFault makes ev an Error if data is a list that describes a failure.
func listFault(ev *Event, data []byte) bool {
	f, ok := parseFault(data)
	if ok {
		f.fill(ev, data, false)
	}
	return ok && ev.Kind == Error
}
