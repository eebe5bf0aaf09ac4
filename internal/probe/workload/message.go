package workload

// Message is one entry of a chat history.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Reasoning is what an assistant thought before it answered, "" where that
	// is not to be sent again, and ReasoningField what its server calls it.
	Reasoning      string `json:"reasoning,omitempty"`
	ReasoningField string `json:"-"`
	// ToolCalls are those of an assistant's message. A message of the role tool
	// follows for each, with its ToolCallID.
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// ToolCall is a call that an assistant asked for.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments are what the model wrote, a JSON object if it did well.
	Arguments string `json:"arguments"`
}

// Size returns the bytes of the message's texts.
func (m *Message) Size() int {
	n := len(m.Content) + len(m.Reasoning)
	for _, c := range m.ToolCalls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return n
}
