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
// scripted. Package yamlform reads the tags of both.
type Tool struct {
	Name        string `yaml:"name" required:"true" examples:"get_weather"`
	Description string `yaml:"description" examples:"The weather of a city now."`
	// Parameters are the JSON schema of its arguments, an object's.
	Parameters map[string]any `yaml:"parameters" examples:"{type: object, properties: {city: {type: string}}, required: [city]}"`
	// Result is what every call returns.
	Result string `yaml:"result" required:"true" examples:"'{\"celsius\": 21}'"`
}

// Format is the form that the text of each answer must have.
type Format struct {
	Name string `yaml:"name" default:"answer" examples:"answer"`
	// Strict asks the server to follow the schema exactly.
	Strict bool `yaml:"strict" default:"true"`
	// Schema is the JSON schema of the whole text.
	Schema map[string]any `yaml:"schema" required:"true" examples:"{type: object, properties: {city: {type: string}}, required: [city]}"`
}
