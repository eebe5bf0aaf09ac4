package simulate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
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

// read decodes and validates the body.
func (q *chatRequest) read(w http.ResponseWriter, r *http.Request, model string) *apiError {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return &apiError{status: http.StatusRequestEntityTooLarge, Kind: "BadRequestError",
			Message: fmt.Sprintf("The request body is larger than %d bytes.", tooLarge.Limit)}
	}
	if err != nil {
		return badRequest(nil, "Reading the request body: %v", err)
	}
	if err := json.Unmarshal(body, q); err != nil {
		return badRequest(nil, "The request body is not valid: %v", err)
	}
	return q.validate(model)
}

// validate returns what is wrong with the request, or nil.
func (q *chatRequest) validate(model string) *apiError {
	limit := q.maxTokens()
	switch {
	case q.Model != model:
		e := failure(http.StatusNotFound, "NotFoundError", "The model `%s` does not exist.", q.Model)
		e.Param = "model"
		return e
	case len(q.Messages) == 0:
		return badRequest("messages", "messages must hold at least one message.")
	case q.N != nil && *q.N != 1:
		return badRequest("n", "n must be 1, got %d.", *q.N)
	case limit != nil && *limit < 1:
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *limit)
	case limit != nil && q.MinTokens > *limit:
		return badRequest("min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", *limit, q.MinTokens)
	case q.StreamOptions != streamOptions{} && !q.Stream:
		return badRequest("stream_options", "stream_options can only be set when stream is true.")
	}
	if i := slices.IndexFunc(q.Messages, func(m message) bool { return m.Role == "" }); i >= 0 {
		return badRequest("messages", "messages[%d] has no role.", i)
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
