package config

import (
	"regexp"
	"slices"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/workload"
)

// functionName matches the names that APIs take for tools.
var functionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// tools resolves what answers may call and what form they have.
func (b *builder) tools(path string, w fileWorkload, s *workload.Spec) {
	taken := map[string]string{}
	for i, t := range w.Tools {
		s.Tools = append(s.Tools, b.tool(yamlform.Index(path+".tools", i), t, taken))
	}
	s.ToolChoice = b.toolChoice(path, w)
	if at := path + ".response_schema"; b.Has(at) {
		b.schema(at, w.ResponseSchema)
		s.ResponseSchema = w.ResponseSchema
	}
	s.Compare = float64(w.CompareStreamed)
	if at := path + ".compare_streamed"; s.Compare > 0 && b.Valid(at, path+".temperature") && (w.Temperature == nil || *w.Temperature != 0) {
		b.Mistake(at, "", "compares answers that are drawn at random", "write temperature: 0 beside it")
	}
}

// tool resolves the tool at path; taken has the paths of those before it.
func (b *builder) tool(path string, t workload.Tool, taken map[string]string) workload.Tool {
	at := path + ".name"
	b.function(at, t.Name)
	switch first := taken[t.Name]; {
	case !b.Valid(at):
	case first != "":
		b.Mistake(at, t.Name, "is also the name of "+first, "give each tool its own name")
	case slices.Contains(toolChoices(), t.Name):
		b.Mistake(at, t.Name, "is also a value of tool_choice", "write another name")
	default:
		taken[t.Name] = path
	}
	if !b.Has(path + ".parameters") {
		t.Parameters = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	if at := path + ".parameters"; b.Valid(at) && t.Parameters["type"] != "object" {
		b.Mistake(at, "", "are not the schema of an object, which arguments are", "write type: object in it")
	}
	b.schema(path+".parameters", t.Parameters)
	return t
}

// function checks the name of a tool.
func (b *builder) function(at, name string) {
	if name != "" && b.Valid(at) && !functionName.MatchString(name) {
		b.Mistake(at, name, "is not a name that APIs take", "use up to 64 letters, digits, - and _")
	}
}

// schema compiles a JSON schema, as the prober will.
func (b *builder) schema(at string, schema map[string]any) {
	if !b.Valid(at) {
		return
	}
	if _, err := answers.Compile(schema); err != nil {
		b.Mistake(at, "", "is not a JSON schema ("+err.Error()+")", "correct it there; what it refers to must stand in it, as #/$defs/NAME")
	}
}

func toolChoices() []string {
	return []string{workload.ChoiceAuto, workload.ChoiceRequired, workload.ChoiceNone}
}

// toolChoice resolves which tool is to be called.
func (b *builder) toolChoice(path string, w fileWorkload) string {
	at := path + ".tool_choice"
	allowed := toolChoices()
	for _, t := range w.Tools {
		allowed = append(allowed, t.Name)
	}
	switch {
	case w.ToolChoice == "" || !b.Valid(at, path+".tools"):
	case len(w.Tools) == 0:
		b.Mistake(at, "", "has no effect without tools", "write tools, or remove it")
	case !slices.Contains(allowed, w.ToolChoice):
		b.Mistake(at, w.ToolChoice, "is neither auto, required, none nor the name of a tool", yamlform.Suggest(w.ToolChoice, allowed, "values"))
	}
	return w.ToolChoice
}
