package worlds

import (
	"testing"

	"synthetic/internal/sidecar/sink"
)

// TestDeploymentsShareThePolicy: the allowed false pages are divided among the deployments; the
// rest of the policy stays.
func TestDeploymentsShareThePolicy(t *testing.T) {
	own := sink.DefaultPolicy()
	own.FalsePages, own.PageRatio = 8, 1.7
	two := []Deployment{{Target: "a", Model: Quiet()}, {Target: "b", Model: Quiet()}}
	for name, tt := range map[string]struct {
		given             sink.Policy
		falsePages, ratio float64
	}{
		"none": {sink.Policy{}, 0.25, 1.5},
		"own":  {own, 4, 1.7},
	} {
		p := jobOf(two[1], SimulationOptions{Deployments: two, Policy: tt.given}).Policy
		if p.FalsePages != tt.falsePages || p.PageRatio != tt.ratio {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
