package probe

import (
	"time"

	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/wire"
)

// Arrive returns the turn of an answer whose first token arrives after ttft and each further one after
// a gap. The prober reads each of them late by the given time.
func Arrive(ttft, late time.Duration, gaps []time.Duration) Result {
	sent := time.Now()
	r := Result{Sent: sent}
	m := measurement{turn: &r}
	at := sent.Add(ttft)
	for i := range len(gaps) + 1 {
		if i > 0 {
			at = at.Add(gaps[i-1])
		}
		m.add(&dialect.Event{Kind: dialect.Token, Delta: dialect.Delta{Content: []byte("a")}, Arrival: wire.Arrival{At: at, Seen: at.Add(late), Kernel: true}}, newLimits(0, 0))
	}
	r.End = at
	m.end()
	dropFalseGaps(&r)
	return r
}
