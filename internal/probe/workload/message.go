package workload

// Message is one entry of a chat history.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Images follow the text of a user message.
	Images []Image `json:"-"`
	// Reasoning is the reasoning text before an assistant's answer, or "" if it is not sent
	// back. ReasoningField is the server's name of the field.
	Reasoning      string `json:"reasoning,omitempty"`
	ReasoningField string `json:"-"`
	// ToolCalls are the calls in an assistant message. For each one a message with the role
	// tool and its ToolCallID follows.
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// ToolCall is a call that the model asks for.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the model's text, a JSON object if it is correct.
	Arguments string `json:"arguments"`
}

// Size returns the bytes of the message's texts and images.
func (m *Message) Size() int {
	n := len(m.Content) + len(m.Reasoning)
	for _, i := range m.Images {
		n += len(i.Data)
	}
	for _, c := range m.ToolCalls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return n
}
