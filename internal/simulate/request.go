package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody bounds a request's body in bytes.
const maxBody = 32 << 20

// chatRequest is the part of a chat completion request that matters here;
// other fields are accepted and ignored, as servers do.
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
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a message's text, given as a string, as a list of parts, or null.
type content struct{ text string }

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(b []byte) error {
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

// readRequest decodes and validates the body.
func readRequest(w http.ResponseWriter, r *http.Request, model string) (chatRequest, *apiError) {
	var q chatRequest
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return q, &apiError{status: http.StatusRequestEntityTooLarge, kind: "BadRequestError",
			message: fmt.Sprintf("The request body is larger than %d bytes.", tooLarge.Limit)}
	}
	if err != nil {
		return q, badRequest("", "Reading the request body: %v", err)
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return q, badRequest("", "The request body is not valid: %v", err)
	}
	return q, q.validate(model)
}

// validate returns what is wrong with the request, or nil.
func (q chatRequest) validate(model string) *apiError {
	limit, limited := q.maxTokens()
	switch {
	case q.Model != model:
		return &apiError{status: http.StatusNotFound, kind: "NotFoundError", param: "model",
			code: http.StatusNotFound, message: fmt.Sprintf("The model `%s` does not exist.", q.Model)}
	case len(q.Messages) == 0:
		return badRequest("messages", "messages must hold at least one message.")
	case q.N != nil && *q.N != 1:
		return badRequest("n", "n must be 1, got %d.", *q.N)
	case limited && limit < 1:
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d.", limit)
	case limited && q.MinTokens > limit:
		return badRequest("min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", limit, q.MinTokens)
	case q.StreamOptions != streamOptions{} && !q.Stream:
		return badRequest("stream_options", "stream_options can only be set when stream is true.")
	}
	for i, m := range q.Messages {
		if m.Role == "" {
			return badRequest("messages", "messages[%d] has no role.", i)
		}
	}
	return nil
}

// maxTokens is the request's own limit, if it has one.
func (q chatRequest) maxTokens() (limit int, ok bool) {
	for _, p := range []*int{q.MaxCompletionTokens, q.MaxTokens} {
		if p != nil {
			return *p, true
		}
	}
	return 0, false
}

// answerTokens is how long the answer is, given how long the model would like
// it to be and how much room the context has, and why it ends there.
func (q chatRequest) answerTokens(wanted, room int) (n int, finish string) {
	limit := room
	if m, ok := q.maxTokens(); ok {
		limit = min(limit, m)
	}
	if n = max(wanted, q.MinTokens); q.IgnoreEOS || n > limit {
		return limit, "length"
	}
	return n, "stop"
}
