package simulate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody limits the body of a request, in bytes.
const maxBody = 32 << 20

// chatRequest holds the fields of a chat request that have an effect. Other fields are ignored, as
// servers do. Requests of all APIs are decoded into it.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []message     `json:"messages"`
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
	MaxTokens           *int          `json:"max_tokens"`
	MaxCompletionTokens *int          `json:"max_completion_tokens"`
	IgnoreEOS           bool          `json:"ignore_eos"`
	Temperature         *float64      `json:"temperature"`
	Tools               []tool        `json:"tools"`
	ToolChoice          toolChoice    `json:"tool_choice"`
	Format              struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role      string     `json:"role"`
	Content   content    `json:"content"`
	ToolCalls []toolCall `json:"tool_calls"`
}

// noRole is the role of a prompt without messages.
const noRole = "text"

// decodeListOr decodes a JSON list. It puts any other value into the list that format describes.
func decodeListOr(b []byte, list any, format string) error {
	if !bytes.HasPrefix(b, []byte("[")) {
		b = fmt.Appendf(nil, format, b)
	}
	return json.Unmarshal(b, list)
}

// content is the text of a message: a string, a list of parts, or null.
type content struct {
	text    string
	present bool // also true for null
}

func (c *content) UnmarshalJSON(b []byte) error {
	var parts []struct{ Text string }
	if err := decodeListOr(b, &parts, `[{"text":%s}]`); err != nil {
		return err
	}
	c.present = true
	for _, p := range parts {
		c.text += p.Text
	}
	return nil
}

func (q *chatRequest) read(w http.ResponseWriter, r *http.Request, a api, o Options) *apiError {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return &apiError{status: http.StatusRequestEntityTooLarge, Kind: "BadRequestError",
			Message: fmt.Sprintf("The request body is larger than %d bytes.", tooLarge.Limit)}
	}
	if err != nil {
		return badRequest(nil, "Reading the request body: %v", err)
	}
	if err := a.read(r, body, q); err != nil {
		return badRequest(nil, "The request body is not valid: %v", err)
	}
	if invalid := cmp.Or(q.validate(o), q.validateHistory()); invalid != nil || q.Stream {
		return invalid
	}
	return badRequest("stream", "The simulated deployment only streams: set stream to true.")
}

func (q *chatRequest) validate(o Options) *apiError {
	limit := q.maxTokens()
	switch {
	case q.Model != o.Model:
		e := newError(http.StatusNotFound, "NotFoundError", "The model `%s` does not exist.", q.Model)
		e.Param = "model"
		return e
	case len(q.Messages) == 0:
		return badRequest("messages", "messages must hold at least one message.")
	case limit != nil && *limit < 1:
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *limit)
	case q.ToolChoice.name != "" && q.function() == nil:
		return badRequest("tool_choice", "tool_choice names the tool %q, which is not among the tools.", q.ToolChoice.name)
	}
	return nil
}

// validateHistory is as strict as the strictest servers: a message needs content or tool calls, and
// a tool result follows its call.
func (q *chatRequest) validateHistory() *apiError {
	called := false
	for i, m := range q.Messages {
		switch {
		case m.Role == "":
			return badRequest("messages", "messages[%d] has no role.", i)
		case m.Role == "assistant" && !m.Content.present && len(m.ToolCalls) == 0:
			return badRequest("messages", "Assistant message must contain either 'content' or 'tool_calls'!")
		case m.Role != "assistant" && !m.Content.present:
			return badRequest("messages", "All non-assistant messages must contain 'content'")
		case m.Role == "tool" && !called:
			return badRequest("messages", "messages[%d] has the role 'tool', but follows no message with 'tool_calls'.", i)
		}
		called = len(m.ToolCalls) > 0 || called && m.Role == "tool"
	}
	return nil
}

// maxTokens returns the token limit of the request, nil if it has none.
func (q *chatRequest) maxTokens() *int { return cmp.Or(q.MaxCompletionTokens, q.MaxTokens) }

// answerTokens returns the length of the answer and its finish reason. wanted is the length that the
// model would choose, room the rest of the context.
func (q *chatRequest) answerTokens(wanted, room int) (n int, finish string) {
	limit := room
	if own := q.maxTokens(); own != nil {
		limit = min(limit, *own)
	}
	if q.IgnoreEOS || wanted > limit {
		return limit, "length"
	}
	return wanted, "stop"
}
