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

// TestOneOfSeveralFails: a DNS name or a file that fails makes the source fail, although the other
// names and files are read.
func TestOneOfSeveralFails(t *testing.T) {
	for _, kind := range []string{"dns", "file"} {
		play(t, func(s *scene) {
			source := newStage()
			source.name = kind
			groups := []Group{group("g", source)}
			s.Follow(groups)
			s.setRefresh(time.Minute)
			round := func(fails bool) Standing {
				source.answerPart("a", 1)
				if fails {
					source.errs <- errors.New("no such host")
				} else {
					source.answerPart("b", 1)
				}
				source.answerPart("c", 2)
				return s.after(time.Minute, kind, groups, 2, 1)
			}
			if st := round(false); st.Failing != "" {
				t.Errorf("%s: no file or name fails: %+v", kind, st)
			}
			since := time.Now()
			for range 3 {
				if st := round(true); st.Failing == "" || !st.Since.Equal(since) {
					t.Errorf("%s: one fails, since %v: %+v", kind, since, st)
				}
			}
			round(false)
			if st := round(false); st.Failing != "" {
				t.Errorf("%s: no file or name fails any more: %+v", kind, st)
			}
		})
	}
}

// TestFailureEnds: a source whose files are read separately has recovered if it reported no failure
// for longer than its refresh interval. It need not send an answer.
func TestFailureEnds(t *testing.T) {
	for what, repair := range map[string]func(*stage){
		"the file is a list of nothing":  func(s *stage) { s.updates <- nil },
		"the file is gone":               func(s *stage) { s.answer(0) },
		"it was never read, and is gone": func(*stage) {},
	} {
		play(t, func(s *scene) {
			source := newStage()
			source.name = "file"
			groups := []Group{group("g", source)}
			s.Follow(groups)
			s.setRefresh(5 * time.Minute)
			source.errs <- errors.New("no JSON")
			repair(source)
			if st := s.after(5*time.Minute, what, groups, 0, 0); st.Failing == "" {
				t.Errorf("%s: the file was not read again yet: %+v", what, st)
			}
			if st := s.after(2*time.Minute, what, groups, 0, 0); st.Failing != "" {
				t.Errorf("%s: %+v", what, st)
			}
			secondFailure := time.Now()
			source.errs <- errors.New("no JSON")
			if st := s.after(time.Minute, what, groups, 0, 0); st.Failing == "" || !st.Since.Equal(secondFailure) {
				t.Errorf("%s: it fails again, since %v: %+v", what, secondFailure, st)
			}
		})
	}
}

// TestRefreshInterval: the discoveries of files and DNS names have a refresh interval.
func TestRefreshInterval(t *testing.T) {
	for _, c := range []prom.Config{&file.SDConfig{RefreshInterval: model.Duration(time.Hour)}, &dns.SDConfig{RefreshInterval: model.Duration(time.Hour)}} {
		if got := refreshInterval(c); got != time.Hour {
			t.Errorf("%s: %v", c.Name(), got)
		}
	}
}

// TestDiscovererEnds: a discoverer that ends by itself is started again. The discoverer of files
// ends if the system allows no more watches.
func TestDiscovererEnds(t *testing.T) {
	play(t, func(s *scene) {
		source := newStage()
		groups := []Group{group("g", source)}
		s.Follow(groups)
		source.answer(1)
		s.after(3*quiet, "found", groups, 1, 1)
		source.errs <- errDiscovererEnds
		if st := s.after(again/2, "the targets stay", groups, 1, 1); st.Failing == "" {
			t.Errorf("%+v", st)
		}
		source.answer(2)
		if st := s.after(again, "the discoverer runs again", groups, 2, 2); st.Failing != "" {
			t.Errorf("%+v", st)
		}
	})
}

// TestRefusedChange: if changed fails, for example because a key file cannot be read, the follower
// calls it again.
func TestRefusedChange(t *testing.T) {
	play(t, func(s *scene) {
		s.refuse = errors.New("no such file")
		source := newStage()
		groups := []Group{group("g", source)}
		s.Follow(groups)
		source.answer(1)
		s.after(3*quiet, "refused", groups, 1, 1)
		s.after(again, "tried again", groups, 1, 2)
		s.mu.Lock()
		s.refuse = nil
		s.mu.Unlock()
		s.after(time.Hour, "and accepted", groups, 1, 3)
	})
}

// TestRecall: the targets that an earlier process had found are used until every source has
// answered, except those that the configuration no longer allows.
func TestRecall(t *testing.T) {
	var before map[string][]Target
	play(t, func(s *scene) {
		source := newStage()
		leases := group("m")
		leases.Lease, leases.AllowedHosts = time.Hour, []string{"*"}
		s.Follow([]Group{group("pods", source), leases})
		source.answer(3)
		if _, err := s.Lease(LeaseRequest{Module: "m", Address: "http://a", Authenticated: true}); err != nil {
			t.Error(err)
		}
		s.after(time.Minute, "found", []Group{group("pods")}, 3, 1)
		before = s.Remember()
		if len(before) != 1 {
			t.Errorf("remembers %v, want only the pods: leases are not saved", before)
		}
	})
	play(t, func(s *scene) {
		first, second := newStage(), newStage()
		g := group("pods", first, second)
		g.Least, g.AllowedHosts = 2, []string{"10.0.0.0/31"}
		groups := []Group{g}
		s.Recall(before)
		if found := s.Found(groups)["pods"]; len(found) != 2 {
			t.Errorf("before Follow there are %v, want the two targets of the allowed network", found)
		}
		s.Follow(groups)
		first.errs <- errors.New("no route")
		st := s.after(time.Hour, "no source answers", groups, 2, 0)
		if st.Failing == "" || !st.At.IsZero() || !s.Awaits("pods/x") || len(s.Remember()["pods"]) != 2 {
			t.Errorf("%+v, and remembers %v", st, s.Remember())
		}
		s.Follow(groups)
		first.answer(1)
		s.after(time.Minute, "one of two sources has answered", groups, 2, 0)
		second.answer(1)
		s.after(time.Minute, "both have answered, with too few targets", groups, 2, 0)
		groups[0].AllowedHosts = []string{"10.0.0.0/8"}
		s.Follow(groups)
		first.answer(4)
		s.after(time.Minute, "enough targets", groups, 4, 1)
	})
}

// TestRecallWithoutFiles: Prometheus' discovery of files sends no answer if no file exists. The
// recalled targets then end, but not while a file cannot be read.
func TestRecallWithoutFiles(t *testing.T) {
	before := map[string][]Target{"pods": {{Name: "a", BaseURL: "http://a:1"}}}
	play(t, func(s *scene) {
		noFiles, second := newStage(), newStage()
		noFiles.name = "file"
		groups := []Group{group("pods", noFiles, second)}
		s.Recall(before)
		s.Follow(groups)
		second.answer(2)
		s.after(silence/2, "files may still be found", groups, 1, 0)
		if st := s.after(2*silence, "no file was found", groups, 2, 1); st.At.IsZero() || s.Awaits("pods/a") {
			t.Errorf("the group has not answered: %+v", st)
		}
		second.answer(3)
		s.after(time.Minute, "the other source is followed", groups, 3, 2)
	})
	play(t, func(s *scene) {
		broken := newStage()
		broken.name = "file"
		groups := []Group{group("pods", broken)}
		s.Recall(before)
		s.Follow(groups)
		s.setRefresh(5 * time.Minute)
		for range 10 {
			broken.errs <- errors.New("no JSON")
			if st := s.after(5*time.Minute, "a file that cannot be read", groups, 1, 0); st.Failing == "" {
				t.Errorf("%+v", st)
			}
		}
		s.after(3*time.Minute, "the file was removed", groups, 0, 1)
	})
}
