package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	openai "github.com/sashabaranov/go-openai"

	"synthetic/internal/probe/workload"
)

// encodeBody returns the JSON body of a streamed chat completion. The fields
// that go-openai cannot express (a temperature of exactly 0, extra fields) are
// spliced in behind its own; the configuration refuses extra fields that would
// repeat one of them.
func encodeBody(model string, spec workload.Spec, history []workload.Message, extra map[string]any) ([]byte, error) {
	req := openai.ChatCompletionRequest{
		Model:    model,
		Messages: make([]openai.ChatCompletionMessage, len(history)),
		//lint:ignore SA1019 every server knows max_tokens, its successor only some
		MaxTokens:     spec.MaxOutputTokens,
		Stream:        true,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
	for i, m := range history {
		req.Messages[i] = openai.ChatCompletionMessage{Role: m.Role, Content: m.Content}
	}
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	more := make(map[string]any, len(extra)+1)
	if spec.Temperature != nil {
		more["temperature"] = *spec.Temperature
	}
	for k, v := range extra {
		more[k] = v
	}
	return splice(body, more)
}

// splice adds the fields of more to the JSON object body.
func splice(body []byte, more map[string]any) ([]byte, error) {
	if len(more) == 0 {
		return body, nil
	}
	tail, err := json.Marshal(more)
	if err != nil {
		return nil, fmt.Errorf("encoding the extra body fields: %w", err)
	}
	body[len(body)-1] = ','
	return append(body, tail[1:]...), nil
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
