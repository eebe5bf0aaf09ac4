package stream

import (
	"bytes"
	"strconv"
	"strings"
)

// maxMessage bounds the text about a failure in bytes.
const maxMessage = 512

// classify fills ev from the payload of an event. It may overwrite data, and ev refers to it. isError
// says that the event was named "error".
func classify(ev *Event, data []byte, isError bool, d Decoder) {
	trimmed := bytes.Trim(data, " \t\r\n")
	switch {
	case string(trimmed) == "[DONE]":
		ev.Kind = Done
	case len(trimmed) == 0 && !isError:
		ev.Kind = Other
	case d.Decode(ev, trimmed, isError):
	case len(trimmed) == 0:
		ev.Kind, ev.Message = Error, "an error event without data"
	case isError:
		ev.Kind, ev.Message = Error, clip(data)
	case trimmed[0] == '[' && listFault(ev, trimmed):
	default:
		ev.Kind, ev.Message = Malformed, clip(data)
	}
}

// markToken makes an event a Token if it has text or calls.
func (ev *Event) markToken() {
	token := ev.Content != nil || ev.Reasoning != nil || ev.ToolCalls != nil || ev.Refusal != nil
	if token && ev.Kind == Other {
		ev.Kind = Token
	}
}

// clip returns the valid UTF-8 in the first maxMessage bytes of b.
func clip(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), maxMessage)]), "")
}

// ErrorMessage returns the message of an error response. It is the message of the error object, or
// else the start of the body, and has at most 512 bytes.
func ErrorMessage(body []byte) string {
	body = bytes.TrimSpace(body)
	if f, ok := parseFault(body); ok {
		return f.text(body)
	}
	return describe(body)
}

// describe returns the start of a text, or the title of an HTML page.
func describe(text []byte) string {
	lower := bytes.ToLower(text[:min(len(text), maxStray)])
	if !bytes.HasPrefix(lower, []byte("<!doctype html")) && !bytes.Contains(lower, []byte("<html")) {
		return clip(text)
	}
	_, title, found := bytes.Cut(lower, []byte("<title>"))
	end := bytes.Index(title, []byte("</title"))
	if !found || end < 0 {
		return "an HTML page: " + clip(text[:min(len(text), maxMessage-32)])
	}
	start := len(lower) - len(title)
	title = bytes.Join(bytes.Fields(text[start:start+end]), []byte(" "))
	return "an HTML page with the title " + strconv.Quote(clip(title[:min(len(title), maxMessage/4)]))
}
