package workload

// RoleTool is the role of the message that gives a call's result.
const RoleTool = "tool"

// Choices of a tool that are no tool's name.
const (
	// ChoiceAuto leaves it to the model whether to call a tool, ChoiceRequired
	// does not, ChoiceNone forbids it.
	ChoiceAuto     = "auto"
	ChoiceRequired = "required"
	ChoiceNone     = "none"
)

// Tool is a function that a model may call. Nothing is run: its result is
// scripted.
type Tool struct {
	Name, Description string
	// Parameters are the JSON schema of its arguments, an object's.
	Parameters map[string]any
	// Result is what every call returns.
	Result string
}

// Format is the form that the text of each answer must have.
type Format struct {
	Name string
	// Schema is the JSON schema of the whole text.
	Schema map[string]any
	// Strict asks the server to follow the schema exactly.
	Strict bool
}
