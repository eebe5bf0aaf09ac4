package kube

import "testing"

// TestCluster starts one cluster for all tests. Each test has a namespace of its own; add a
// new test as a line here.
func TestCluster(t *testing.T) {
	t.Cleanup(func() { checkNothingRuns(t) })
	c := startCluster(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *cluster, string)
	}{
		{"admission", testRestricted},
		{"kinds", testEveryKindIsAccepted},
		{"drift", testSecondApplyChangesNothing},
		{"chart", testChart},
		{"job", testIndexedJob},
		{"study", testStudy},
		{"discovery", testDiscovery},
		{"rolling", testPodsRoll},
		{"scaling", testScale},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c, c.namespace(t, test.name)) })
	}
	c.checkNoPodIsLeft(t)
}
