package metrics

import (
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestLateTurnsAreNotJudged checks that no objective judges a latency that would meet it without the
// lag of the prober.
func TestLateTurnsAreNotJudged(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	slow := turn("a", probe.First, start, 1100*millisecond, millisecond, 1)
	slow.Lag = 150 * millisecond // more than the TTFT objective tolerates, less than the others tolerate
	run(r, slow)
	g := gather(t, r)
	for series, want := range map[string]float64{
		first(Turns): 1, first("synthetic_turns_not_judged_total"): 1,
		first(SLOTurns, "slo=ttft"): 0, first(SLOViolations, "slo=ttft"): 0, first(SLOTurns, "slo=up"): 1,
	} {
		if got := g.value(t, series); got != want {
			t.Errorf("%s = %v, want %v", series, got, want)
		}
	}
}

func TestStarved(t *testing.T) {
	own := func(o probe.Outcome) probe.Result {
		res := turn("a", probe.First, start, millisecond, millisecond, 1)
		res.Outcome = o
		return res
	}
	well := own(probe.Success)
	for name, tc := range map[string]struct {
		late  time.Duration
		turns []probe.Result
		after time.Duration
		want  float64
	}{
		"well":                            {0, []probe.Result{well}, 0, 0},
		"no turn yet":                     {0, nil, 0, 0},
		"later than one objective bears":  {101 * millisecond, []probe.Result{well}, 0, 0},
		"as late as the last of them":     {time.Second, []probe.Result{well}, 0, 0},
		"later than that":                 {time.Second + 1, []probe.Result{well}, 0, 1},
		"most turns are not sent":         {0, []probe.Result{well, own(probe.NotSent), own(probe.NotSent)}, 0, 1},
		"most turns are late":             {0, []probe.Result{own(probe.ProberLate), well, own(probe.ProberLate)}, 0, 1},
		"half of the turns are":           {0, []probe.Result{well, own(probe.NotSent)}, 0, 0},
		"failures are the target's":       {0, []probe.Result{own(probe.HTTP5xx), own(probe.ConnectError)}, 0, 0},
		"our own shutdown is no fault":    {0, []probe.Result{own(probe.Canceled), own(probe.Canceled)}, 0, 0},
		"thin traffic: the last one was":  {0, []probe.Result{own(probe.NotSent)}, 10 * time.Minute, 1},
		"thin traffic: the last one went": {0, []probe.Result{own(probe.NotSent), own(probe.NotSent), well}, 10 * time.Minute, 0},
		"thin traffic: it was long ago":   {0, []probe.Result{own(probe.NotSent)}, 10*time.Minute + 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := &clock{start}
			r := newTestRecorder(c, "a")
			r.options.Lag = func() time.Duration { return tc.late }
			for _, res := range tc.turns {
				run(r, res)
			}
			c.now = c.now.Add(tc.after)
			g := gather(t, r)
			if got := g.value(t, ofJob(ProberStarved)); got != tc.want {
				t.Errorf("starved %v, want %v", got, tc.want)
			}
			if got := g.value(t, ProberLag+"{}"); got != tc.late.Seconds() {
				t.Errorf("lag %v, want %v", got, tc.late)
			}
		})
	}
}
