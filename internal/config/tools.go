package config

import (
	"fmt"
	"regexp"
	"slices"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// functionName matches the names of tools that APIs accept.
var functionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// readTools resolves the tools and checks the format of answers.
func readTools(r *reader, path string, s *workload.Spec) {
	first := map[string]string{}
	for i := range s.Tools {
		readTool(r, yamlform.Index(path+".tools", i), &s.Tools[i], first)
	}
	checkToolChoice(r, path, s)
	if at := path + ".response_schema"; r.Has(at) {
		checkSchema(r, at, s.ResponseSchema)
	}
}

// leastForRecall is the smallest limit of an answer that has room for a reference code.
const leastForRecall = 32

// checkRecall checks that answers can have reference codes. It needs the means that readDistributions sets.
func checkRecall(r *reader, path string, s *workload.Spec) {
	for _, other := range [][2]string{
		{"trace", "whose texts have no codes"}, {"response_schema", "which leaves no room for a code"},
	} {
		if r.Has(path + "." + other[0]) {
			r.NoEffect(path, "beside "+other[0]+", "+other[1], "remove one of the two", "recall")
		}
	}
	at := path + ".recall"
	switch {
	case s.Recall == 0 || !r.Valid(at, path+".turns", path+".max_output_tokens", path+".distributions"):
	case s.Check != "":
		r.Mistake(at, "", "puts a code at the start of answers, so that check may fail", "remove one of the two")
	case s.TurnsMax == 1:
		r.Mistake(at, "", "has no effect with conversations of one turn, because follow-ups ask for codes", "remove it, or write turns: {max: 3}")
	case s.MaxOutputTokens > 0 && s.MaxOutputTokens < leastForRecall && r.Has(path+".max_output_tokens"):
		r.Mistake(at, "", fmt.Sprintf("does not fit into max_output_tokens, which is %d", s.MaxOutputTokens), fmt.Sprintf("write max_output_tokens: %d or more", leastForRecall))
	case s.MaxOutputTokens > 0 && s.MaxOutputTokens < leastForRecall:
		r.Mistake(at, "", fmt.Sprintf("does not fit into output_tokens, whose mean is %d", s.MaxOutputTokens), fmt.Sprintf("choose a mean of %d or more", leastForRecall))
	}
}

// readTool resolves the tool at path. first maps the names so far to their paths.
func readTool(r *reader, path string, t *workload.Tool, first map[string]string) {
	switch at := path + ".name"; {
	case !r.Valid(at):
	case t.Name != "" && !functionName.MatchString(t.Name):
		r.Mistake(at, t.Name, "is not a name that APIs accept", "use up to 64 letters, digits, - and _")
	case first[t.Name] != "":
		r.Mistake(at, t.Name, "is also the name of "+first[t.Name], "give each tool its own name")
	case slices.Contains(toolChoices(), t.Name):
		r.Mistake(at, t.Name, "is also a value of tool_choice", "write another name")
	default:
		first[t.Name] = path
	}
	at := path + ".parameters"
	if !r.Has(at) {
		t.Parameters = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	if r.Valid(at) && t.Parameters["type"] != "object" {
		r.Mistake(at, "", "are not the schema of an object", "write type: object in it")
	}
	checkSchema(r, at, t.Parameters)
}

// checkSchema compiles a JSON schema, as the prober does.
func checkSchema(r *reader, at string, schema map[string]any) {
	if !r.Valid(at) {
		return
	}
	if _, err := answers.Compile(schema); err != nil {
		r.Mistake(at, "", "is not a JSON schema ("+err.Error()+")", "correct it; references must stay within the schema, as #/$defs/NAME")
	}
}

func toolChoices() []string {
	return []string{workload.ChoiceAuto, workload.ChoiceRequired, workload.ChoiceNone}
}

func checkToolChoice(r *reader, path string, s *workload.Spec) {
	at := path + ".tool_choice"
	allowed := toolChoices()
	for _, t := range s.Tools {
		allowed = append(allowed, t.Name)
	}
	switch {
	case s.ToolChoice == "" || !r.Valid(at, path+".tools"):
	case len(s.Tools) == 0:
		r.Mistake(at, "", "has no effect without tools", "write tools, or remove it")
	case !slices.Contains(allowed, s.ToolChoice):
		r.Mistake(at, s.ToolChoice, "is neither auto, required, none nor the name of a tool", yamlform.Suggest(allowed, "values"))
	}
}

// checkSupport checks that the API of a target supports the features of a workload. path is the
// mapping that combines the two.
func checkSupport(r *reader, path string, t target.Target, w workload.Spec) {
	api := dialect.Of(t.API)
	for _, feature := range []struct {
		used, supported bool
		key             string
	}{
		{len(w.Tools) > 0, api.Tools, "tools"},
		{w.ResponseSchema != nil, api.Schemas, "response_schema"},
	} {
		if feature.used && !feature.supported {
			r.Mistake(path, "", fmt.Sprintf("sends workload %q to target %q, whose api %s has no %s", w.Name, t.Name, t.API, feature.key), "send it a workload without "+feature.key)
		}
	}
}
