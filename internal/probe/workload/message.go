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

// RoleTool is the role of a message with a tool result.
const RoleTool = "tool"

// Values of Spec.ToolChoice that are not a tool's name.
const (
	ChoiceAuto     = "auto" // the model decides
	ChoiceRequired = "required"
	ChoiceNone     = "none"
)

// Tool is a function that a model can call. Nothing is executed; the result is scripted.
type Tool struct {
	Name        string `yaml:"name" required:"true" examples:"get_weather"`
	Description string `yaml:"description" examples:"The weather of a city now."`
	// Parameters is the JSON schema of the arguments, which are an object.
	Parameters map[string]any `yaml:"parameters" examples:"{type: object, properties: {city: {type: string}}, required: [city]}"`
	// Result is what every call returns.
	Result string `yaml:"result" required:"true" examples:"'{\"celsius\": 21}'"`
}
