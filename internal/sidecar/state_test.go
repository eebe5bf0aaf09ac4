package sidecar_test

import (
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/sidecar/watch"
	"synthetic/internal/simulate"
)

// TestSavedBeforeTheDrain: a process that ends saves the baselines at once, because a second signal may
// end it while turns are in flight, and again when they have ended.
func TestSavedBeforeTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := newSite(t, forgetfulPager)
		defer end()
		s.saveBaseline()
		s.target.Update(befall(simulate.NoAnswer, 1))
		_, stop := s.begin()
		time.Sleep(90 * time.Second)
		ended := make(chan struct{})
		began := time.Now()
		go func() {
			defer close(ended)
			stop()
		}()
		synctest.Wait()
		if saved := s.saved(); !saved.Equal(began) {
			t.Errorf("saved %v after the end began, want at once", saved.Sub(began))
		}
		select {
		case <-ended:
			t.Error("the process did not wait for turns in flight")
		default:
		}
		<-ended
		if saved := s.saved(); !saved.After(began) || !saved.Equal(time.Now()) {
			t.Errorf("saved %v before the end, want at the end", time.Since(saved))
		}
	})
}

// saved returns when the state file was written.
func (s *site) saved() time.Time {
	s.t.Helper()
	f, err := watch.ReadFile(s.stateFile())
	if err != nil || len(f.Jobs) == 0 {
		s.t.Fatalf("%d jobs are saved (%v)", len(f.Jobs), err)
	}
	return f.Jobs[0].Saved
}
