package discovery

import (
	"errors"
	"testing"
	"time"
)

// TestOneOfSeveralFails: the other names of DNS, and the other files, say nothing of
// one that fails, in whichever order they come.
func TestOneOfSeveralFails(t *testing.T) {
	for _, kind := range []string{"dns", "file"} {
		play(t, func(s *scene) {
			source := newStage()
			source.name = kind
			groups := []Group{group("g", source)}
			s.Follow(groups)
			round := func(fails bool) Standing {
				source.saysOf("a", 1)
				if fails {
					source.errs <- errors.New("no such host")
				} else {
					source.saysOf("b", 1)
				}
				source.saysOf("c", 2)
				return s.after(time.Minute, kind, groups, 2, 1)
			}
			if st := round(false); st.Failing != "" {
				t.Errorf("%s: all is well: %+v", kind, st)
			}
			since := time.Now()
			for range 3 {
				if st := round(true); st.Failing == "" || !st.Since.Equal(since) {
					t.Errorf("%s: one fails since %v: %+v", kind, since, st)
				}
			}
			round(false)
			round(false)
			if st := round(false); st.Failing != "" {
				t.Errorf("%s: it is back: %+v", kind, st)
			}
		})
	}
}

// TestGivesUp: a discoverer that ends by itself, as that of files does where the system
// watches no more of them, is begun again.
func TestGivesUp(t *testing.T) {
	play(t, func(s *scene) {
		source := newStage()
		groups := []Group{group("g", source)}
		s.Follow(groups)
		source.says(1)
		s.after(3*quiet, "found", groups, 1, 1)
		source.errs <- errGivesUp
		if st := s.after(again/2, "what was found stays", groups, 1, 1); st.Failing == "" {
			t.Errorf("%+v", st)
		}
		source.says(2)
		if st := s.after(again, "it is asked again", groups, 2, 2); st.Failing != "" {
			t.Errorf("%+v", st)
		}
	})
}

// TestRefusedChange: targets that could not be taken over, as where a file of a key
// could not be read just then, are tried again.
func TestRefusedChange(t *testing.T) {
	play(t, func(s *scene) {
		s.refuse = errors.New("no such file")
		source := newStage()
		groups := []Group{group("g", source)}
		s.Follow(groups)
		source.says(1)
		s.after(3*quiet, "refused", groups, 1, 1)
		s.after(again, "tried again", groups, 1, 2)
		s.mu.Lock()
		s.refuse = nil
		s.mu.Unlock()
		s.after(time.Hour, "until it is taken over", groups, 1, 3)
	})
}

// TestRecall: what an earlier process had found is there until every source has
// answered, but for what is allowed no more.
func TestRecall(t *testing.T) {
	var before map[string][]Target
	play(t, func(s *scene) {
		source := newStage()
		leases := group("m")
		leases.Lease, leases.AllowedHosts = time.Hour, []string{"*"}
		s.Follow([]Group{group("pods", source), leases})
		source.says(3)
		if _, err := s.Lease("m", "http://a"); err != nil {
			t.Error(err)
		}
		s.after(time.Minute, "found", []Group{group("pods")}, 3, 1)
		before = s.Remember()
		if len(before) != 1 {
			t.Errorf("remembers %v, and wants the pods alone: leases are made anew", before)
		}
	})
	play(t, func(s *scene) {
		one, other := newStage(), newStage()
		g := group("pods", one, other)
		g.Least, g.AllowedHosts = 2, []string{"10.0.0.0/31"}
		groups := []Group{g}
		s.Recall(before)
		if found := s.Found(groups)["pods"]; len(found) != 2 {
			t.Errorf("before it is followed there are %v, want two of an allowed network", found)
		}
		s.Follow(groups)
		one.errs <- errors.New("no route")
		st := s.after(time.Hour, "nobody answers", groups, 2, 0)
		if st.Failing == "" || !st.At.IsZero() || !s.Awaits("pods/x") || len(s.Remember()["pods"]) != 2 {
			t.Errorf("%+v, and remembers %v", st, s.Remember())
		}
		s.Follow(groups)
		one.says(1)
		s.after(time.Minute, "one of two answers", groups, 2, 0)
		other.says(1)
		s.after(time.Minute, "both, too few", groups, 2, 0)
		groups[0].AllowedHosts = []string{"10.0.0.0/8"}
		s.Follow(groups)
		one.says(4)
		s.after(time.Minute, "what there is now", groups, 4, 1)
	})
}
