package api

import (
	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// chat is OpenAI's /chat/completions, and Azure's.
type chat struct{}

// chatRequest is the body of a streamed chat completion.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
}

// chatMessage is a message of the history. Content is never left out: null
// stands beside tool calls, and strict servers refuse a message with neither.
type chatMessage struct {
	Role             string     `json:"role"`
	Content          any        `json:"content"` // a text, parts or null
	Reasoning        string     `json:"reasoning,omitempty"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	ToolCalls        []chatCall `json:"tool_calls,omitempty"`
	ToolCallID       string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Stream implements API.
func (chat) Stream() Stream { return decodedBy(stream.NewChat()) }

func decodedBy(d stream.Decoder) Stream { return Stream{Options: stream.Options{Decoder: d}} }

// Request implements API.
func (chat) Request(t Turn) (Request, error) {
	req := chatRequest{
		Model: t.Model, Messages: make([]chatMessage, len(t.History)),
		Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
	}
	if t.Limit == target.MaxCompletionTokens {
		req.MaxCompletionTokens = t.Spec.MaxOutputTokens
	} else {
		req.MaxTokens = t.Spec.MaxOutputTokens
	}
	for i := range t.History {
		req.Messages[i] = newChatMessage(&t.History[i])
	}
	body, err := encode(req, chatFields(t), t.Target.Extra, t.History)
	return Request{Path: ChatPath(t.Target, t.Model), Body: body}, err
}

// chatFields are the fields that a workload sets, as chat completions call them.
func chatFields(t Turn) map[string]any {
	s, more := t.Spec, map[string]any{}
	if s.Temperature != nil {
		more["temperature"] = *s.Temperature
	}
	if s.ReasoningEffort != "" {
		more["reasoning_effort"] = s.ReasoningEffort
	}
	if s.ChatTemplate != nil {
		more["chat_template_kwargs"] = s.ChatTemplate
	}
	addChatTools(more, t)
	return more
}

// chatPart is a part of a message with images.
type chatPart struct {
	Type     string   `json:"type"`
	Text     string   `json:"text,omitempty"`
	ImageURL *chatURL `json:"image_url,omitempty"`
}

type chatURL struct {
	URL string `json:"url"`
}

func chatParts(m *workload.Message) []chatPart {
	parts := []chatPart{{Type: "text", Text: m.Content}}
	for _, i := range m.Images {
		parts = append(parts, chatPart{Type: "image_url", ImageURL: &chatURL{i.URL()}})
	}
	return parts
}

func newChatMessage(m *workload.Message) chatMessage {
	out := chatMessage{Role: m.Role, ToolCallID: m.ToolCallID}
	switch {
	case len(m.Images) > 0:
		out.Content = chatParts(m)
	case m.Content != "" || len(m.ToolCalls) == 0:
		out.Content = m.Content
	}
	if m.ReasoningField == "reasoning" {
		out.Reasoning = m.Reasoning
	} else {
		out.ReasoningContent = m.Reasoning
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, chatCall{c.ID, "function", chatFunction{c.Name, c.Arguments}})
	}
	return out
}
