package stream

import (
	"bytes"
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
	case isError:
		ev.Kind, ev.Message = Error, clip(data)
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
	return clip(body)
}

// FinishReason translates the finish reasons of all APIs to those of chat completions. The known
// ones need no allocation.
func FinishReason[T string | []byte](b T) string {
	switch string(b) {
	case "stop", "end_turn", "stop_sequence", "completed":
		return "stop"
	case "length", "max_tokens", "max_output_tokens":
		return "length"
	case "tool_calls", "tool_use":
		return "tool_calls"
	case "content_filter", "refusal":
		return "content_filter"
	default:
		return clip([]byte(b))
	}
}
