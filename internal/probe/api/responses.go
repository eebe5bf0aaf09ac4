package api

import (
	"fmt"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/workload"
)

// responses is OpenAI's /responses, which is sent the whole history: nothing is
// stored at the server.
type responses struct{}

type responsesRequest struct {
	Model           string `json:"model"`
	Input           []any  `json:"input"`
	MaxOutputTokens int    `json:"max_output_tokens,omitempty"`
	Stream          bool   `json:"stream"`
}

type responsesMessage struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content []responsesPart `json:"content"`
	// ID and Status are what strict servers want of an answer of their own.
	ID     string `json:"id,omitempty"`
	Status string `json:"status,omitempty"`
}

type responsesPart struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	// Annotations belong to output_text, the image to input_image.
	Annotations *[]any `json:"annotations,omitempty"`
	ImageURL    string `json:"image_url,omitempty"`
}

type responsesCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type responsesOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// Stream implements API.
func (responses) Stream() Stream { return decodedBy(stream.NewResponses()) }

// Request implements API.
func (responses) Request(t Turn) (Request, error) {
	req := responsesRequest{Model: t.Model, MaxOutputTokens: t.Spec.MaxOutputTokens, Stream: true}
	for i := range t.History {
		req.Input = append(req.Input, responsesItems(i, &t.History[i])...)
	}
	more := temperature(t.Spec)
	more["store"] = false
	if t.Spec.ReasoningEffort != "" {
		more["reasoning"] = map[string]any{"effort": t.Spec.ReasoningEffort}
	}
	body, err := encode(req, more, t.Target.Extra, t.History)
	return Request{Path: "/responses", Body: body}, err
}

// responsesItems are the items of a message: its text, then its tool calls.
func responsesItems(number int, m *workload.Message) (items []any) {
	if m.Role == "tool" {
		return []any{responsesOutput{"function_call_output", m.ToolCallID, m.Content}}
	}
	if m.Content != "" || len(m.ToolCalls) == 0 {
		items = append(items, newResponsesMessage(number, m))
	}
	for _, c := range m.ToolCalls {
		items = append(items, responsesCall{"function_call", c.ID, c.Name, c.Arguments})
	}
	return items
}

func newResponsesMessage(number int, m *workload.Message) responsesMessage {
	if m.Role == "assistant" {
		part := responsesPart{Type: "output_text", Text: m.Content, Annotations: &[]any{}}
		return responsesMessage{
			Type: "message", Role: m.Role, Content: []responsesPart{part},
			ID: fmt.Sprintf("msg_%d", number), Status: "completed",
		}
	}
	return responsesMessage{Type: "message", Role: m.Role, Content: []responsesPart{{Type: "input_text", Text: m.Content}}}
}
