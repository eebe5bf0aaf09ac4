package config

import (
	"fmt"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// vocabulary checks that the API of a target can say what a workload wants of it.
// path is what brings the two together.
func (b *builder) vocabulary(path string, to target.Target, w workload.Spec) {
	for _, want := range []struct {
		wanted, known bool
		key           string
	}{
		{len(w.Tools) > 0, to.API.SupportsTools(), "tools"},
		{w.ToolChoice != "", to.API != target.Ollama, "tool_choice"},
		{w.ResponseSchema != nil, to.API.SupportsJSONSchema(), "response_schema"},
		{w.Compare > 0, to.API.OpenAIChat(), "compare_streamed"},
	} {
		if want.wanted && !want.known {
			b.Mistake(path, "", fmt.Sprintf("sends workload %q to target %q, whose api %s has no %s", w.Name, to.Name, to.API, want.key), "send it a workload without "+want.key)
		}
	}
}
