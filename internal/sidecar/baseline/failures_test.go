package baseline

import (
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestFailing: turns fail since the second of several failures in a row. A turn that waited in vain for its
// first token has failed since its start; one that broke off, since its end.
func TestFailing(t *testing.T) {
	begin := time.Unix(1_800_000_000, 0)
	turn := func(o probe.Outcome, sent, end int) probe.Result {
		at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
		return probe.Result{Outcome: o, Sent: at(sent), End: at(end)}
	}
	for name, tc := range map[string]struct {
		turns []probe.Result
		want  time.Duration // after 100 s
	}{
		"one failure":            {[]probe.Result{turn(probe.ConnectError, 1, 2)}, 0},
		"two":                    {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.ConnectError, 10, 12)}, 88 * time.Second},
		"a hang":                 {[]probe.Result{turn(probe.TimeoutFirstToken, 1, 31), turn(probe.TimeoutFirstToken, 10, 40), turn(probe.TimeoutFirstToken, 20, 50)}, 90 * time.Second},
		"answers that broke off": {[]probe.Result{turn(probe.Truncated, 0, 90), turn(probe.Truncated, 5, 91)}, 9 * time.Second},
		"a good turn between":    {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.Success, 3, 4), turn(probe.ConnectError, 5, 6)}, 0},
		"a refusal between":      {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.HTTP429, 3, 4), turn(probe.ConnectError, 5, 6)}, 94 * time.Second},
		"refusals since then":    {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.ConnectError, 3, 4), turn(probe.ConnectError, 5, 9), turn(probe.HTTP429, 10, 50), turn(probe.HTTP429, 60, 90)}, 5 * time.Second},
		"refusals between":       {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.ConnectError, 3, 4), turn(probe.HTTP429, 5, 50), turn(probe.ConnectError, 85, 90)}, 10 * time.Second},
		"our own fault between":  {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.NotSent, 3, 4), turn(probe.ConnectError, 5, 6)}, 94 * time.Second},
	} {
		var run failureRun
		for _, r := range tc.turns {
			run.add(&r)
		}
		if got := run.lasts(begin.Add(100 * time.Second)); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
