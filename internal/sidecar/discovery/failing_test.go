package discovery

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/dns"
	"github.com/prometheus/prometheus/discovery/file"
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
			s.readEvery(time.Minute)
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
			if st := round(false); st.Failing != "" {
				t.Errorf("%s: it is back: %+v", kind, st)
			}
		})
	}
}

// TestFailureIsOver: where each file answers for itself, a failure is over when none was
// told of for as long as files are read anew, and no other answer is waited for.
func TestFailureIsOver(t *testing.T) {
	for what, mended := range map[string]func(*stage){
		"the file is a list of nothing":  func(s *stage) { s.updates <- nil },
		"the file is gone":               func(s *stage) { s.says(0) },
		"it was never read, and is gone": func(*stage) {},
	} {
		play(t, func(s *scene) {
			source := newStage()
			source.name = "file"
			groups := []Group{group("g", source)}
			s.Follow(groups)
			s.readEvery(5 * time.Minute)
			source.errs <- errors.New("no JSON")
			mended(source)
			if st := s.after(5*time.Minute, what, groups, 0, 0); st.Failing == "" {
				t.Errorf("%s: it is not read again yet: %+v", what, st)
			}
			if st := s.after(2*time.Minute, what, groups, 0, 0); st.Failing != "" {
				t.Errorf("%s: %+v", what, st)
			}
			again := time.Now()
			source.errs <- errors.New("no JSON")
			if st := s.after(time.Minute, what, groups, 0, 0); st.Failing == "" || !st.Since.Equal(again) {
				t.Errorf("%s: it fails anew since %v: %+v", what, again, st)
			}
		})
	}
}

// TestInterval: the kinds that tell of each failure anew are known by their own types.
func TestInterval(t *testing.T) {
	for _, c := range []prom.Config{&file.SDConfig{RefreshInterval: model.Duration(time.Hour)}, &dns.SDConfig{RefreshInterval: model.Duration(time.Hour)}} {
		if got := interval(c); got != time.Hour {
			t.Errorf("%s: %v", c.Name(), got)
		}
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

// TestRecallOfNoFiles: where no file is left, Prometheus' discovery of files says
// nothing at all. What was recalled goes then, but for as long as a file cannot be read.
func TestRecallOfNoFiles(t *testing.T) {
	before := map[string][]Target{"pods": {{Name: "a", BaseURL: "http://a:1"}}}
	play(t, func(s *scene) {
		none, other := newStage(), newStage()
		none.name = "file"
		groups := []Group{group("pods", none, other)}
		s.Recall(before)
		s.Follow(groups)
		other.says(2)
		s.after(silence/2, "files may yet be found", groups, 1, 0)
		if st := s.after(2*silence, "there are none", groups, 2, 1); st.At.IsZero() || s.Awaits("pods/a") {
			t.Errorf("what there is is known: %+v", st)
		}
		other.says(3)
		s.after(time.Minute, "the other source is followed", groups, 3, 2)
	})
	play(t, func(s *scene) {
		broken := newStage()
		broken.name = "file"
		groups := []Group{group("pods", broken)}
		s.Recall(before)
		s.Follow(groups)
		s.readEvery(5 * time.Minute)
		for range 10 {
			broken.errs <- errors.New("no JSON")
			if st := s.after(5*time.Minute, "a file that cannot be read", groups, 1, 0); st.Failing == "" {
				t.Errorf("%+v", st)
			}
		}
		s.after(3*time.Minute, "and was removed", groups, 0, 1)
	})
}
