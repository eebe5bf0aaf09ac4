package probe_test

import (
	"fmt"
	"strings"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
)

func TestOddAnswersAreToldFromOthers(t *testing.T) {
	rubbish := strings.Repeat("!", 128)
	for _, test := range []struct {
		name, answer, model string
		aliases             []string
		want                answers.Defect
	}{
		{"an answer", "The mill stood at the bend.", "meta/llama", nil, ""},
		{"rubbish", rubbish, "meta/llama", nil, answers.Repetition},
		{"another model", "The mill.", "qwen", nil, answers.Model},
		{"its release", "The mill.", "llama-2024-08-06", nil, ""},
		{"its file", "The mill.", `\/models\/Llama.gguf`, nil, ""},
		{"an alias", "The mill.", "azure/gpt-4o", []string{"gpt-4o"}, ""},
		{"another one than the alias", "The mill.", "gpt-5", []string{"gpt-4o"}, answers.Model},
		{"no name", "The mill.", "", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			named := func(delta, finish string) string {
				return fmt.Sprintf("data: {\"id\":\"1\",\"model\":\"%s\",\"choices\":[{\"delta\":{%s},\"finish_reason\":%s}]}\n\n", test.model, delta, finish)
			}
			half := len(test.answer) / 2
			s := play(t, &scripted{steps: []step{{0, closeHead + named(`"content":"`+test.answer[:half]+`"`, "null") +
				named(`"content":"`+test.answer[half:]+`"`, `"stop"`) + done}}})
			o := options(s.addr)
			o.Target.Model, o.Target.ServedAs = "meta/llama", test.aliases
			r := once(t, o)
			if r.Outcome != probe.Success || r.Defect != test.want {
				t.Errorf("outcome %s, odd for %q, want a success and %q", r.Outcome, r.Defect, test.want)
			}
			if named := r.AnsweredBy != ""; named != (test.want == answers.Model) {
				t.Errorf("answered by %q", r.AnsweredBy)
			}
		})
	}
}
