package load

import (
	"slices"
	"testing"

	"synthetic/internal/probe"
)

// TestRemovedBeforeItRan checks that OnRemoved is called at once for a job removed before Run,
// and not for one that stays or changes.
func TestRemovedBeforeItRan(t *testing.T) {
	var removed []string
	s := New(Options{
		Sink: newBook(), NewProber: (&deployment{}).newProber, Replica: "replica-0",
		OnRemoved: func(job probe.Key) { removed = append(removed, job.String()) },
	})
	for _, jobs := range [][]probe.Job{
		{job("stays"), job("changes"), job("goes")},
		{job("stays"), job("changes", func(j *probe.Job) { j.Traffic.MaxConcurrency++ })},
		nil,
	} {
		if err := s.Apply(jobs, nil); err != nil {
			t.Fatal(err)
		}
		if len(jobs) == 2 && !slices.Equal(removed, []string{"goes/chat"}) {
			t.Errorf("removed %v, want the one that is wanted no more", removed)
		}
	}
	if len(removed) != 3 {
		t.Errorf("removed %v in all, want each once", removed)
	}
}
