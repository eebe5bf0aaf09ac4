package api

import (
	"cmp"
	"encoding/json"
	"strings"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/workload"
)

// messages is Anthropic's /messages.
type messages struct{}

// anyLength is the limit of an answer where the workload has none: the API
// demands one.
const anyLength = 4096

type messagesRequest struct {
	Model     string            `json:"model"`
	System    string            `json:"system,omitempty"`
	Messages  []messagesMessage `json:"messages"`
	MaxTokens int               `json:"max_tokens"`
	Stream    bool              `json:"stream"`
}

// messagesMessage has a text as its content, or a list of blocks.
type messagesMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type messagesBlock struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	// ID, Name and Input belong to tool_use, ToolUseID and Content to
	// tool_result.
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
}

// Stream implements API.
func (messages) Stream() Stream { return decodedBy(stream.NewMessages()) }

// Request implements API.
func (messages) Request(t Turn) (Request, error) {
	req := messagesRequest{Model: t.Model, MaxTokens: cmp.Or(t.Spec.MaxOutputTokens, anyLength), Stream: true}
	var system []string
	for i := range t.History {
		switch m := &t.History[i]; m.Role {
		case "system":
			system = append(system, m.Content)
		case "tool":
			req.addResult(m)
		default:
			req.Messages = append(req.Messages, messagesMessage{m.Role, messagesContent(m)})
		}
	}
	req.System = strings.Join(system, "\n\n")
	body, err := encode(req, temperature(t.Spec), t.Target.Extra, t.History)
	return Request{Path: "/messages", Body: body}, err
}

// addResult adds the result of a tool, which is a user's word; those of one
// answer share a message.
func (r *messagesRequest) addResult(m *workload.Message) {
	block := messagesBlock{Type: "tool_result", ToolUseID: m.ToolCallID, Content: m.Content}
	if n := len(r.Messages); n > 0 {
		if blocks, ok := r.Messages[n-1].Content.([]messagesBlock); ok && r.Messages[n-1].Role == "user" {
			r.Messages[n-1].Content = append(blocks, block)
			return
		}
	}
	r.Messages = append(r.Messages, messagesMessage{"user", []messagesBlock{block}})
}

// messagesContent is a text, or the blocks of a message with tool calls.
func messagesContent(m *workload.Message) any {
	if len(m.ToolCalls) == 0 {
		return m.Content
	}
	var blocks []messagesBlock
	if m.Content != "" {
		blocks = append(blocks, messagesBlock{Type: "text", Text: m.Content})
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, messagesBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: object(c.Arguments)})
	}
	return blocks
}

// object is the JSON object that the arguments of a tool call are, an empty one
// if they are none.
func object(arguments string) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}
