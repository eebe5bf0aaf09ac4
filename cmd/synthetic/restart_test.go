package main

import (
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate"
)

// The two pagers of a sidecar that is killed: with and without a disk.
const (
	lastingPager   = "alerting: {directory: pager, alertmanagers: [{url: \"http://alertmanager:80\"}]}\n"
	forgetfulPager = "alerting: {alertmanagers: [{url: \"http://alertmanager:80\"}]}\n"
)

func slower(factor float64) func(*simulate.Options) {
	return func(o *simulate.Options) { o.FirstToken.Median = time.Duration(factor * float64(o.FirstToken.Median)) }
}

// TestKilledInMidRegression kills the sidecar within a fault, and starts it
// again half a minute later: the page begins in time, is at no moment over for
// the Alertmanager before the fault is, and ends once. The baseline is what it
// was.
func TestKilledInMidRegression(t *testing.T) {
	busy := func(o *simulate.Options) { o.Faults.HTTP429 = 1 }
	for name, tt := range map[string]struct {
		pager string
		fault func(*simulate.Options)
		alert string
		// within is when the first of the alerts must be told of, killed when
		// the process ends, lasts when the fault does, all after its beginning;
		// rest is how long it takes until all is told.
		within, killed, lasts, rest time.Duration
	}{
		"three times, killed while it fires":           {lastingPager, slower(3), "SyntheticFastRegression", 3 * time.Minute, 6 * time.Minute, 15 * time.Minute, 20 * time.Minute},
		"three times, killed before it fires":          {lastingPager, slower(3), "SyntheticFastRegression", 4 * time.Minute, 80 * time.Second, 12 * time.Minute, 20 * time.Minute},
		"three times, the pager forgets":               {forgetfulPager, slower(3), "SyntheticFastRegression", 3 * time.Minute, 6 * time.Minute, 15 * time.Minute, 20 * time.Minute},
		"a third more, killed while it fires":          {lastingPager, slower(1.35), "SyntheticSlowRegression", 35 * time.Minute, 36 * time.Minute, 45 * time.Minute, 20 * time.Minute},
		"full, killed while the alert waits for 5 min": {lastingPager, busy, "SyntheticTargetBusy", 11 * time.Minute, 6 * time.Minute, 12 * time.Minute, 35 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, end := newSite(t, tt.pager)
				defer end()
				s.usual()
				first, stop := s.begin()
				time.Sleep(15 * time.Minute)
				fault := time.Now()
				s.target.Update(tt.fault)
				time.Sleep(tt.killed)
				before := baselines(t, first)
				s.kill(stop)
				time.Sleep(30 * time.Second)
				second, stop := s.begin()
				same(t, "after the restart", before, baselines(t, second))
				time.Sleep(time.Until(fault.Add(tt.lasts)))
				same(t, "at the end of the fault", before, baselines(t, second))
				well := time.Now()
				s.target.Update(func(o *simulate.Options) { *o = healthyOptions() })
				time.Sleep(tt.rest)
				stop()
				goesOn(t, s.box.of(tt.alert), fault.Add(tt.within), well)
			})
		})
	}
}

// same compares baselines: no value of the first may be another in the second.
func same(t *testing.T, when string, want, got map[string]float64) {
	t.Helper()
	if len(want) == 0 {
		t.Error("no baseline is exported")
	}
	for id, w := range want {
		if g := got[id]; math.Abs(g-w) > 1e-6*math.Abs(w) {
			t.Errorf("%s %s is %v, was %v", when, id, g, w)
		}
	}
}

// goesOn holds what an Alertmanager was told to a page that begins by a time,
// goes on until the fault is over, and ends once.
func goesOn(t *testing.T, alerts map[string][]told, by, well time.Time) {
	t.Helper()
	if len(alerts) == 0 {
		t.Error("nothing was paged")
	}
	for which, letters := range alerts {
		if first := letters[0]; !first.firing() || first.at.After(by) {
			t.Errorf("%s: first told %v after it was due, began %v", which, first.at.Sub(by), first.StartsAt.Sub(by))
		}
		if gap := lapses(letters, well); gap > 0 {
			t.Errorf("%s: the alert was over for %v within the fault", which, gap)
		}
		ends := 0
		for i, l := range letters {
			if !l.firing() && (i == 0 || letters[i-1].firing()) {
				ends++
			}
		}
		if ends != 1 || letters[len(letters)-1].firing() {
			t.Errorf("%s: told of %d ends, want 1 and nothing after it", which, ends)
		}
	}
}

// TestKilledProcess kills the real program, which pages over TCP, and starts it
// again: the alert goes on with the beginning that it had.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	box := &letterbox{told: make(chan told, 1000)}
	am := httptest.NewServer(box)
	defer am.Close()
	_, server := fastDeployment(t, func(o *simulate.Options) { o.Faults.HTTP500 = 1 })
	file := configFor(t, "/v1", map[string]string{"a": server.URL})
	withAlerting(t, file, "alerting: {interval: 1s, directory: pager, alertmanagers: [{url: \""+am.URL+"\"}]}\n")
	ledger := filepath.Join(filepath.Dir(file), "pager", "alerts.json")
	begin := func() (kill func(), log fmt.Stringer) {
		cmd, _, errs := newProcess("run", "--config.file="+file, "--web.listen-address=127.0.0.1:0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // its error is that it was killed
		}, errs
	}
	kill, log := begin()
	first := box.await(t, func(told) bool { return true })
	saved := eventually(func() bool {
		text, err := os.ReadFile(ledger)
		return err == nil && strings.Contains(string(text), first.Labels["alertname"])
	})
	kill()
	if first.Labels == nil || !saved {
		t.Fatalf("nothing was paged and saved:\n%s", log)
	}
	box.drain()
	kill, log = begin()
	again := box.await(t, func(a told) bool { return maps.Equal(a.Labels, first.Labels) })
	kill()
	if !again.firing() || !again.StartsAt.Equal(first.StartsAt) {
		t.Errorf("after the kill the Alertmanager is told %+v, before it %+v\n%s", again, first, log)
	}
}
