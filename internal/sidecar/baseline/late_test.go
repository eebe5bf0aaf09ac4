package baseline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/probe"
)

// TestLateTurnsLeaveNoTrace gives a job absurd turns for which the prober itself was too late.
// They must not change any value.
func TestLateTurnsLeaveNoTrace(t *testing.T) {
	const ms = time.Millisecond
	spared := newFeed(options{}).run(2 * day)
	for name, r := range map[string]probe.Result{
		"slow":     {Outcome: probe.Success, TTFT: probe.Some(time.Minute), TPOT: probe.Some(time.Minute), Lag: 100 * ms},
		"failed":   {Outcome: probe.TimeoutFirstToken, Lag: 100 * ms},
		"not sent": {Outcome: probe.NotSent},
		"late":     {Outcome: probe.ProberLate, TTFT: probe.Some(time.Minute)},
	} {
		f := newFeed(options{}).run(2 * day)
		for range 30 {
			f.observe(&r, f.now)
		}
		if diff := cmp.Diff(spared.view(), f.view(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(spared.parts[0].excess(), f.parts[0].excess(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", name, diff)
		}
	}
}

// TestTolerance checks how late the prober may be, by the baseline or, without one, by the
// value itself. A delay in the stream is divided by the number of tokens.
func TestTolerance(t *testing.T) {
	const ms = time.Millisecond
	learned := newFeed(options{})
	learned.usual = 2 * time.Second
	learned.run(2 * day)
	bare := newFeed(options{})
	slow := probe.Result{Outcome: probe.Success, TTFT: probe.Some(3 * time.Second), TPOT: probe.Some(50 * ms), OutputTokens: probe.Some(500), TPOTTokens: 10}
	for name, tt := range map[string]struct {
		f           *feed
		signal      int
		lag, stream time.Duration
		tooLate     bool
	}{
		"below a tenth of the usual":       {learned, 0, 190 * ms, 0, false},
		"above it":                         {learned, 0, 230 * ms, 0, true},
		"below a tenth of the value":       {bare, 0, 290 * ms, 0, false},
		"above a tenth of the value":       {bare, 0, 310 * ms, 0, true},
		"a late stream and its first":      {bare, 0, 0, time.Hour, false},
		"a late first token and the pace":  {bare, 1, 990 * ms, 0, false},
		"a second too late":                {bare, 1, 1010 * ms, 0, true},
		"below a tenth of the pace":        {bare, 1, 0, 49 * ms, false},
		"above a tenth of it, over tokens": {bare, 1, 0, 51 * ms, true},
	} {
		r := slow
		r.Lag, r.StreamLag = tt.lag, tt.stream
		value := []time.Duration{r.TTFT.V, r.TPOT.V}[tt.signal]
		if got := tt.f.tooLate(&r, tt.signal, value, tt.f.wall(tt.f.now)); got != tt.tooLate {
			t.Errorf("%s: too late %v, want %v", name, got, tt.tooLate)
		}
	}
}
