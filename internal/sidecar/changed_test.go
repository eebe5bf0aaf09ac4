package sidecar

import (
	"testing"
	"time"

	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/discovery"
)

// TestSourcesOfMarks checks the marks of a rollout, a restart and a version. The rollout tells most, so it is the only
// one of a change that all three report.
func TestSourcesOfMarks(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := time.Now().Add(-time.Minute)
	for _, step := range []struct {
		report func()
		want   string
	}{
		{func() { s.serverChanged("pods/a", serverside.Change{At: at}) }, "a server process started"},
		{func() { s.serverChanged("pods/a", serverside.Change{At: at, From: "1", To: "2"}) }, "version 1 → 2"},
		{func() { s.discovery.RolledOut(discovery.Rollout{Group: "pods", Images: "vllm:2"}) }, "rollout of vllm:2"},
	} {
		step.report()
		if got := s.marks.About("pods/a"); len(got) != 1 || got[0].Text != step.want || got[0].At.Equal(at) == (got[0].Target == "pods") {
			t.Errorf("the marks are %+v, want %q at %v, or now for the group", got, step.want, at)
		}
	}
}
