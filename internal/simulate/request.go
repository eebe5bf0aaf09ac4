package simulate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
)

// maxBody bounds a request's body in bytes.
const maxBody = 32 << 20

// chatRequest is the part of a request that matters here; other fields are
// accepted and ignored, as servers do. Its JSON is that of a chat; requests of
// the other APIs are read into the same.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []message     `json:"messages"`
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
	MaxTokens           *int          `json:"max_tokens"`
	MaxCompletionTokens *int          `json:"max_completion_tokens"`
	MinTokens           int           `json:"min_tokens"`
	IgnoreEOS           bool          `json:"ignore_eos"`
	N                   *int          `json:"n"`
	Temperature         *float64      `json:"temperature"`
	Effort              string        `json:"reasoning_effort"`
	Template            struct {
		EnableThinking *bool `json:"enable_thinking"`
	} `json:"chat_template_kwargs"`
	Tools      []tool     `json:"tools"`
	ToolChoice toolChoice `json:"tool_choice"`
	Format     struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Logprobs    bool `json:"logprobs"`
	TopLogprobs int  `json:"top_logprobs"`

	// Of requests for figures about texts.
	inputs     texts
	query      string
	dimensions int
	topN       int // 0 is all
}

// Types of a response_format.
const (
	jsonObject = "json_object"
	jsonSchema = "json_schema"
)

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

type message struct {
	Role      string     `json:"role"`
	Content   content    `json:"content"`
	ToolCalls []toolCall `json:"tool_calls"`
}

// noRole is that of a prompt which is nothing but text.
const noRole = "text"

// texts is one text or a list of them.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("[")) {
		return json.Unmarshal(b, (*[]string)(t))
	}
	*t = make(texts, 1)
	return json.Unmarshal(b, &(*t)[0])
}

// prompt makes the request one for what follows a text.
func (q *chatRequest) prompt(t texts) {
	q.Messages = nil
	if len(t) > 0 {
		q.Messages = []message{{Role: noRole, Content: content{strings.Join(t, ""), true}}}
	}
}

// content is a message's text, given as a string, as a list of parts, or null.
type content struct {
	text  string
	given bool // though it may be null
}

func (c *content) UnmarshalJSON(b []byte) error {
	c.given = true
	if bytes.HasPrefix(b, []byte("[")) {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			c.text += p.Text
		}
		return nil
	}
	return json.Unmarshal(b, &c.text)
}

// read decodes and validates the body of a request to an API.
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
	if refused := q.validate(o); refused != nil {
		return refused
	}
	return q.validateHistory()
}

// validate returns what is wrong with the request, or nil.
func (q *chatRequest) validate(o Options) *apiError {
	limit := q.maxTokens()
	switch {
	case !slices.Contains(o.names(), q.Model):
		e := failure(http.StatusNotFound, "NotFoundError", "The model `%s` does not exist.", q.Model)
		e.Param = "model"
		return e
	case len(q.Messages) == 0:
		return badRequest("messages", "messages must hold at least one message.")
	case o.RefuseMaxTokens && q.MaxTokens != nil:
		e := badRequest("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		e.Code, e.Kind = "unsupported_parameter", "invalid_request_error"
		return e
	case q.N != nil && *q.N != 1:
		return badRequest("n", "n must be 1, got %d.", *q.N)
	case limit != nil && *limit < 1:
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *limit)
	case limit != nil && q.MinTokens > *limit:
		return badRequest("min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", *limit, q.MinTokens)
	case q.StreamOptions != streamOptions{} && !q.Stream:
		return badRequest("stream_options", "stream_options can only be set when stream is true.")
	case q.TopLogprobs < 0 || q.TopLogprobs > maxTop:
		return badRequest("top_logprobs", "top_logprobs must be between 0 and %d, got %d.", maxTop, q.TopLogprobs)
	case q.ToolChoice.name != "" && q.function() == nil:
		return badRequest("tool_choice", "tool_choice names the tool %q, which is not among the tools.", q.ToolChoice.name)
	}
	return nil
}

// validateHistory is as strict as the strictest servers: a message says
// something, and the result of a tool follows its call.
func (q *chatRequest) validateHistory() *apiError {
	called := false
	for i, m := range q.Messages {
		switch {
		case m.Role == "":
			return badRequest("messages", "messages[%d] has no role.", i)
		case m.Role == "assistant" && !m.Content.given && len(m.ToolCalls) == 0:
			return badRequest("messages", "Assistant message must contain either 'content' or 'tool_calls'!")
		case m.Role != "assistant" && !m.Content.given:
			return badRequest("messages", "All non-assistant messages must contain 'content'")
		case m.Role == "tool" && !called:
			return badRequest("messages", "messages[%d] has the role 'tool', but follows no message with 'tool_calls'.", i)
		}
		called = len(m.ToolCalls) > 0 || called && m.Role == "tool"
	}
	return nil
}

// maxTokens is the request's own limit, nil if it has none.
func (q *chatRequest) maxTokens() *int { return cmp.Or(q.MaxCompletionTokens, q.MaxTokens) }

// answerTokens is how long the answer is, given how long the model would like
// it to be and how much room the context has, and why it ends there.
func (q *chatRequest) answerTokens(wanted, room int) (n int, finish string) {
	limit := room
	if most := q.maxTokens(); most != nil {
		limit = min(limit, *most)
	}
	if n = max(wanted, q.MinTokens); q.IgnoreEOS || n > limit {
		return limit, "length"
	}
	return n, "stop"
}

// thinking is how many tokens of an answer are reasoning, given the share that
// the model would like.
func (q *chatRequest) thinking(share float64, wanted int) int {
	if on := q.Template.EnableThinking; on != nil && !*on {
		return 0
	}
	switch q.Effort {
	case "none", "minimal":
		return 0
	case "low":
		share /= 2
	case "high":
		share = min(share*1.5, 1)
	}
	return int(math.Round(share * float64(wanted)))
}
