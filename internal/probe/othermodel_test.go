package probe_test

import (
	"fmt"
	"testing"

	"synthetic/internal/probe"
)

func TestOtherModels(t *testing.T) {
	for _, test := range []struct {
		name, model string
		aliases     []string
		other       bool
	}{
		{name: "the model", model: "meta/llama"},
		{name: "another model", model: "qwen", other: true},
		{name: "its release", model: "llama-2024-08-06"},
		{name: "its file", model: `\/models\/Llama.gguf`},
		{name: "an alias", model: "azure/gpt-4o", aliases: []string{"gpt-4o"}},
		{name: "another one than the alias", model: "gpt-5", aliases: []string{"gpt-4o"}, other: true},
		{name: "no name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := play(t, &scripted{steps: []step{{0, closeHead + fmt.Sprintf(
				"data: {\"id\":\"1\",\"model\":\"%s\",\"choices\":[{\"delta\":{\"content\":\"The mill.\"},\"finish_reason\":\"stop\"}]}\n\n", test.model) + done}}})
			o := options(s.addr)
			o.Target.Model, o.Target.ServedAs = "meta/llama", test.aliases
			r := once(t, o)
			if r.Outcome != probe.Success || r.IsOtherModel() != test.other || (r.AnsweredBy != "") != test.other {
				t.Errorf("outcome %s, answered by %q, want a success, by another model: %t", r.Outcome, r.AnsweredBy, test.other)
			}
		})
	}
}
