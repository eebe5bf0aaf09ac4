package rules

import "testing"

// TestFleet holds from how many targets with a fault on it is one that they share.
func TestFleet(t *testing.T) {
	for name, tt := range map[string]struct {
		targets []string
		want    int
	}{
		"too few":                   {[]string{"a", "b"}, 0},
		"three":                     {[]string{"a", "b", "c"}, 3},
		"a gateway of any models":   {[]string{"gateway", "gateway/*"}, 3},
		"that of four named models": {[]string{"g/a", "g/b", "g/c", "g/d"}, 3},
	} {
		var in Input
		for _, target := range tt.targets {
			in.Jobs = append(in.Jobs, Job{Target: target})
		}
		if got := in.fleet(); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
