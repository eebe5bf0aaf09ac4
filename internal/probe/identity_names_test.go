package probe

import (
	"testing"

	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
)

// TestIsServedModel checks that a release of a model counts as that model, but another version or
// another release does not.
func TestIsServedModel(t *testing.T) {
	for _, tc := range []struct {
		api             dialect.Name
		asked, answered string
		served          []string
		want            bool
	}{
		{asked: "meta/llama", answered: "llama", want: true},
		{asked: "gpt-4o", answered: "gpt-4o-2024-08-06", want: true},
		{asked: "gpt-4o-2024-11-20", answered: "gpt-4o", want: true},
		{asked: "gpt-4o-2024-11-20", answered: "gpt-4o-2024-08-06"},
		{asked: "gpt-5", answered: "gpt-4"},
		{asked: "claude-opus-4-5", answered: "claude-opus-4-1"},
		{asked: "claude-3-5-sonnet-latest", answered: "claude-3-5-sonnet-20241022", want: true},
		{asked: "phi-4", answered: "phi-3"},
		{asked: "mistral-large", answered: "mistral-large-2407", want: true},
		{asked: "meta/llama", answered: "/models/Llama.gguf", want: true},
		{asked: "meta/llama", answered: "azure/gpt-4o", served: []string{"gpt-4o"}, want: true},
		{asked: "meta/llama", answered: "gpt-5", served: []string{"gpt-4o"}},
		{asked: "/models/llama", answered: "/models/llama@main", want: true}, // of transformers serve
		{asked: "llama.gguf", answered: "llama.gguf@main", want: true},
		{asked: "llama", answered: "llama-latest@main", want: true},
		{asked: "llama", answered: "llama@experiment"},
		{asked: "chat", answered: "", want: true},
		{asked: "", answered: "llama", want: true},
		{api: "azure", asked: "prod-chat", answered: "gpt-4o-2024-08-06", want: true},
		{api: "azure", asked: "prod-chat", answered: "gpt-4o-2024-08-06", served: []string{"gpt-4o"}, want: true},
		{api: "azure", asked: "prod-chat", answered: "gpt-35-turbo", served: []string{"gpt-4o"}},
	} {
		if got := isServedModel(&target.Target{API: tc.api, ServedAs: tc.served}, tc.asked, tc.answered); got != tc.want {
			t.Errorf("asked %q, answered by %q: %v", tc.asked, tc.answered, got)
		}
	}
}
