package dialect

import (
	"bytes"
	"regexp"
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

// htmlPage and htmlTitle find an HTML page, in any encoding that contains ASCII, and its title.
var (
	htmlPage  = regexp.MustCompile(`(?i)^<!doctype html|<html`)
	htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title`)
)

// describe returns the start of a text, or the title of an HTML page.
func describe(text []byte) string {
	begin := text[:min(len(text), maxStray)]
	if !htmlPage.Match(begin) {
		return clip(text)
	}
	title := htmlTitle.FindSubmatch(begin)
	if title == nil {
		return "an HTML page: " + clip(text[:min(len(text), maxMessage-32)])
	}
	words := bytes.Join(bytes.Fields(title[1]), []byte(" "))
	return "an HTML page with the title " + strconv.Quote(clip(words[:min(len(words), maxMessage/4)]))
}
