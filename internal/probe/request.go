package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"synthetic/internal/probe/workload"
)

// chatRequest is the body of a streamed chat completion.
type chatRequest struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	// MaxTokens is what every server knows, its successor only some.
	MaxTokens     int           `json:"max_tokens,omitempty"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// encodeBody returns the JSON body of a streamed chat completion. The fields
// that a target adds are spliced in behind; the configuration refuses those that
// would repeat one. A history may be long, so that it is written once, into a
// buffer that usually need not grow.
func encodeBody(model string, spec workload.Spec, history []workload.Message, extra map[string]any) ([]byte, error) {
	more := make(map[string]any, len(extra)+1)
	if spec.Temperature != nil {
		more["temperature"] = *spec.Temperature
	}
	maps.Copy(more, extra)
	tail, err := json.Marshal(more)
	if err != nil {
		return nil, fmt.Errorf("encoding the extra body fields: %w", err)
	}
	req := chatRequest{
		Model: model, Messages: make([]chatMessage, len(history)), MaxTokens: spec.MaxOutputTokens,
		Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
	}
	size := len(tail) + 256 // for the frame of the whole
	for i, m := range history {
		req.Messages[i] = chatMessage{m.Role, m.Content}
		size += len(m.Content)*9/8 + 64 // for what is escaped, and the frame of a message
	}
	body := bytes.NewBuffer(make([]byte, 0, size))
	if err := json.NewEncoder(body).Encode(req); err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	if len(more) == 0 {
		return bytes.TrimSuffix(body.Bytes(), []byte("\n")), nil
	}
	body.Truncate(body.Len() - len("}\n"))
	body.WriteByte(',')
	body.Write(tail[1:])
	return body.Bytes(), nil
}

// newRequest builds the POST of one turn, with the headers that the target
// wants.
func newRequest(ctx context.Context, base string, header http.Header, traceparent string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("building the request: %w", err)
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Traceparent", traceparent)
	return req, nil
}
