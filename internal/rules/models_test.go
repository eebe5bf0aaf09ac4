package rules

import "testing"

// TestAnyModel holds that rules written once are about every model of a target.
func TestAnyModel(t *testing.T) {
	tests := map[string]struct {
		values []string
		want   string
	}{
		"one target":       {[]string{"a.b"}, `target="a.b"`},
		"its models":       {[]string{"a.b/*"}, `target=~"a\\.b/.+"`},
		"both, and others": {[]string{"a", "a/*", "b"}, `target=~"a|a/.+|b"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := oneOf("target", tc.values); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
