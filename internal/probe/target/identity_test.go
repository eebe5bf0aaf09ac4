package target

import (
	"strings"
	"testing"
)

func TestProbeHeaderIsOneSafeWord(t *testing.T) {
	tests := map[string]struct{ target, workload, want string }{
		"plain":          {"eu-1", "chat", "eu-1/chat"},
		"a model's name": {"eu-1/meta-llama/Llama-3", "chat", "eu-1/meta-llama/Llama-3/chat"},
		"a second line":  {"a\r\nAuthorization: x", "b", "a__Authorization:_x/b"},
		"not ASCII":      {"größe\x7f", "b\t", "gr__e_/b_"},
		"too long":       {strings.Repeat("x", 300), "w", strings.Repeat("x", maxProbeHeader)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h, err := NewAuthorizer(Target{Name: tc.target}, tc.workload).Header(t.Context())
			if err != nil || h.Get(ProbeHeader) != tc.want {
				t.Errorf("got %q (%v), want %q", h.Get(ProbeHeader), err, tc.want)
			}
		})
	}
	a := NewAuthorizer(Target{Name: "a"}, "")
	if h, err := a.Header(t.Context()); err != nil || h.Values(ProbeHeader) != nil || !strings.HasPrefix(h.Get("User-Agent"), "synthetic/") {
		t.Errorf("a request that is no probe: %v (%v)", h, err)
	}
}
