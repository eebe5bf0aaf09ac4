package workload

// RoleTool is the role of a message with a tool result.
const RoleTool = "tool"

// Values of Spec.ToolChoice that are not a tool's name.
const (
	// The model decides (auto), must call a tool (required), or must not (none).
	ChoiceAuto     = "auto"
	ChoiceRequired = "required"
	ChoiceNone     = "none"
)

// Tool is a function that a model can call. Nothing is executed; the result is scripted.
// Package yamlform reads the tags.
type Tool struct {
	Name        string `yaml:"name" required:"true" examples:"get_weather"`
	Description string `yaml:"description" examples:"The weather of a city now."`
	// Parameters is the JSON schema of the arguments, which are an object.
	Parameters map[string]any `yaml:"parameters" examples:"{type: object, properties: {city: {type: string}}, required: [city]}"`
	// Result is what every call returns.
	Result string `yaml:"result" required:"true" examples:"'{\"celsius\": 21}'"`
}

// Format is the required format of each answer's text.
type Format struct {
	Name string `yaml:"name" default:"answer" examples:"answer"`
	// Strict asks the server to follow the schema exactly.
	Strict bool `yaml:"strict" default:"true"`
	// Schema is the JSON schema of the whole text.
	Schema map[string]any `yaml:"schema" required:"true" examples:"{type: object, properties: {city: {type: string}}, required: [city]}"`
}
