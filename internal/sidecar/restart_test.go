package sidecar_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// Configurations of a pager with and without a directory.
const (
	lastingPager   = "alerting: {directory: pager, alertmanagers: [{url: \"http://alertmanager:80\"}]}\n"
	forgetfulPager = "alerting: {alertmanagers: [{url: \"http://alertmanager:80\"}]}\n"
)

func slower(factor float64) func(*simulate.Options) {
	return func(o *simulate.Options) { o.FirstToken.Median = time.Duration(factor * float64(o.FirstToken.Median)) }
}

// TestKilledInMidRegression kills the sidecar during a fault, and starts it again half a minute later.
// The page starts in time, does not end for the Alertmanager before the fault ends, and ends once. The
// baseline stays the same.
func TestKilledInMidRegression(t *testing.T) {
	busy := befall(simulate.BusyStatus, 1)
	for name, tt := range map[string]struct {
		pager string
		fault func(*simulate.Options)
		alert string
		// within is when the first message must arrive, killed when the process ends and lasts when
		// the fault ends, all after the start of the fault; rest is the time after the fault.
		within, killed, lasts, rest time.Duration
	}{
		"three times, killed while it fires":           {lastingPager, slower(3), "SyntheticRegression", 3 * time.Minute, 6 * time.Minute, 15 * time.Minute, 20 * time.Minute},
		"three times, killed before it fires":          {lastingPager, slower(3), "SyntheticRegression", 4 * time.Minute, 80 * time.Second, 12 * time.Minute, 20 * time.Minute},
		"three times, the pager forgets":               {forgetfulPager, slower(3), "SyntheticRegression", 3 * time.Minute, 6 * time.Minute, 15 * time.Minute, 20 * time.Minute},
		"a third more, killed while it fires":          {lastingPager, slower(1.35), "SyntheticRegression", 35 * time.Minute, 36 * time.Minute, 45 * time.Minute, 30 * time.Minute}, // a ticket, which stays 15 minutes longer,
		"full, killed while the alert waits for 5 min": {lastingPager, busy, "SyntheticTargetBusy", 13 * time.Minute, 6 * time.Minute, 15 * time.Minute, 35 * time.Minute},          // a ticket, whose wait begins again
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "three times, killed while it fires" {
				t.Skip("simulates most of an hour; make test-long runs it")
			}
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, end := newSite(t, tt.pager)
				defer end()
				s.saveBaseline()
				first, stop := s.begin()
				time.Sleep(15 * time.Minute)
				fault := time.Now()
				s.target.Update(tt.fault)
				time.Sleep(tt.killed)
				before := baselines(t, first)
				s.kill(stop)
				time.Sleep(30 * time.Second)
				second, stop := s.begin()
				wantSame(t, "after the restart", before, baselines(t, second))
				time.Sleep(time.Until(fault.Add(tt.lasts)))
				wantSame(t, "at the end of the fault", before, baselines(t, second))
				well := time.Now()
				s.target.Update(func(o *simulate.Options) { *o = healthyOptions() })
				time.Sleep(tt.rest)
				stop()
				wantOnePage(t, s.box.Of(tt.alert), fault.Add(tt.within), well)
			})
		})
	}
}

// wantSame compares usual values, which each half hour without the fault changes a little.
func wantSame(t *testing.T, when string, want, got map[string]float64) {
	t.Helper()
	if len(want) == 0 {
		t.Error("no baseline is exported")
	}
	for id, w := range want {
		most := 0.01 // of the TTFT, which has the fault and learns nothing
		if strings.Contains(id, `signal="tpot"`) {
			most = 0.02 // it is quiet, and goes on learning
		}
		if g := got[id]; !(math.Abs(g-w) <= most*w) {
			t.Errorf("%s %s is %v, was %v", when, id, g, w)
		}
	}
}

// wantOnePage checks the messages to an Alertmanager: the page starts by a time, continues until the
// fault has ended, and ends once.
func wantOnePage(t *testing.T, alerts map[string][]stage.Alert, by, well time.Time) {
	t.Helper()
	if len(alerts) == 0 {
		t.Error("there is no page")
	}
	for which, letters := range alerts {
		if first := letters[0]; !first.Firing() || first.At.After(by) {
			t.Errorf("%s: the first message came %v after it was due, the alert began %v", which, first.At.Sub(by), first.StartsAt.Sub(by))
		}
		if gap := lapses(letters, well); gap > 0 {
			t.Errorf("%s: the alert had ended for %v during the fault", which, gap)
		}
		ends := 0
		for i, l := range letters {
			if !l.Firing() && (i == 0 || letters[i-1].Firing()) {
				ends++
			}
		}
		if ends != 1 || letters[len(letters)-1].Firing() {
			t.Errorf("%s: %d ends, want 1 and no message after it", which, ends)
		}
	}
}
