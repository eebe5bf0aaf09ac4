package figures

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/study/runfile"
)

// TestLongSessionsCount: a level of 100 s sends four sessions each second, and every fifth is long. Long sessions have their
// share of the figures, or are known to be cut.
func TestLongSessionsCount(t *testing.T) {
	for _, c := range []struct {
		name               string
		long               time.Duration
		timed              float64 // 0: all sessions end
		ended, cut, median float64
		tail               float64 // the p95; 0 if it is unknown
	}{
		{"they end", 45 * time.Second, 100, 200, 0, 1000, 45_000},
		{"some are cut", 80 * time.Second, 100, 177, 23, 1000, 0},
		{"a number of conversations", 80 * time.Second, 0, 400, 0, 1000, 80_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runfile.Result{State: runfile.Complete, Snapshots: []runfile.Snapshot{{Blocks: make([]runfile.Block, 10)}}}
			start := time.Now()
			for i := range 400 {
				b := &r.Snapshots[0].Blocks[i/40]
				b.Seconds = 10
				sent, lasts, outcome := time.Duration(i)*time.Second/4, time.Second, probe.Success
				if i%5 == 0 {
					lasts = c.long
				}
				if c.timed > 0 && sent+lasts > 100*time.Second {
					outcome = probe.Canceled
				}
				b.EndConversation(&probe.Conversation{Sent: start.Add(sent), End: start.Add(sent + lasts), Outcome: outcome, Turns: 2})
			}
			l := Level{Figures: map[Metric]Figure{}}
			l.addSessions(&runfile.Run{MeasurementSeconds: c.timed}, []runfile.Result{r})
			for m, want := range map[Metric]float64{SessionsEnded: c.ended, SessionsCut: c.cut, SessionP50: c.median, SessionP95: c.tail} {
				if got := l.Value(m); got != want && (want != 0 || l.Figure(m).Known()) {
					t.Errorf("%s = %g, want %g", m, got, want)
				}
			}
		})
	}
}
