package regression

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
)

// TestLateTurnsLeaveNoTrace feeds a job turns with nonsense in them, for which
// the prober itself was too late: nothing of it is different.
func TestLateTurnsLeaveNoTrace(t *testing.T) {
	const ms = time.Millisecond
	spared := newFeed(Options{}).run(2 * day)
	for name, r := range map[string]probe.Result{
		"slow":     {Outcome: probe.Success, TTFT: probe.Some(time.Minute), TPOT: probe.Some(time.Minute), Lag: 100 * ms},
		"failed":   {Outcome: probe.ConnectError, Lag: 100 * ms},
		"not sent": {Outcome: probe.NotSent},
		"late":     {Outcome: probe.ProberLate, TTFT: probe.Some(time.Minute)},
	} {
		f := newFeed(Options{}).run(2 * day)
		for range 30 {
			f.Observe(&r, f.now)
		}
		if diff := cmp.Diff(spared.view(), f.view()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(spared.Parts(0), f.Parts(0)); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", name, diff)
		}
	}
}

// TestTolerance: the usual says how late the prober may have been, and until it
// is known the value itself; times between tokens that the kernel stamped are
// true.
func TestTolerance(t *testing.T) {
	const ms = time.Millisecond
	learned := newFeed(Options{})
	learned.median = 2 * time.Second
	learned.run(2 * day)
	young := newFeed(Options{Thresholds: [kinds][signals]time.Duration{{5 * time.Second, 0}}})
	bare := newFeed(Options{})
	slow := probe.Result{Outcome: probe.Success, TTFT: probe.Some(3 * time.Second), TPOT: probe.Some(time.Second)}
	for name, tt := range map[string]struct {
		f       *feed
		signal  int
		kernel  bool
		lag     time.Duration
		tooLate bool
	}{
		"below a tenth of the usual":     {learned, 0, true, 190 * ms, false},
		"above it":                       {learned, 0, true, 230 * ms, true},
		"below a tenth of the threshold": {young, 0, true, 490 * ms, false},
		"above a tenth of the threshold": {young, 0, true, 510 * ms, true},
		"below a tenth of the value":     {bare, 0, true, 290 * ms, false},
		"above a tenth of the value":     {bare, 0, true, 310 * ms, true},
		"tokens that the kernel stamped": {bare, 1, true, 990 * ms, false},
		"stamped, and a second too late": {bare, 1, true, 1010 * ms, true},
		"tokens that were stamped by us": {bare, 1, false, 110 * ms, true},
		"so, and the prober was in time": {bare, 1, false, 90 * ms, false},
	} {
		r := slow
		r.Kernel, r.Lag = tt.kernel, tt.lag
		if got := tt.f.TooLate(&r, tt.signal, tt.f.now); got != tt.tooLate {
			t.Errorf("%s: too late %v, want %v", name, got, tt.tooLate)
		}
	}
}
