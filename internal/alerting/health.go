package alerting

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// Health describes the state of a pager. Counts are since its start.
type Health struct {
	// Evaluations counts evaluated rules, Failures failed ones.
	Evaluations, Failures uint64
	// Evaluated is when the rules were last evaluated, in wall time; zero before the first time.
	Evaluated time.Time
	// Stalled is why the pager evaluates nothing; nil if it works.
	Stalled error
	// Alertmanagers are in the order of the configuration.
	Alertmanagers []Receiver
}

// Receiver describes an Alertmanager, also in /api/status.
type Receiver struct {
	URL string `json:"url"`
	// Undelivered is the number of alerts in the last request that failed, 0 if Err is "".
	Undelivered int `json:"undelivered"`
	// LastOK is when it last accepted alerts; Err is the error of the last request that failed, "" once all
	// alerts were accepted again.
	LastOK time.Time `json:"last_success_at,omitzero"`
	Err    string    `json:"error,omitempty"`
}

// work is what a pager has done. Times are Unix nanoseconds of the wall clock.
type work struct {
	evaluations, failures atomic.Uint64
	// started is when Run began, evaluated when a round last ended.
	started, evaluated atomic.Int64
}

// stalledAfter is the time without an evaluation after which the pager counts as stalled.
const stalledAfter = 5 * time.Minute

// Health returns the state of the pager. It is cheap enough for every scrape, including the pager's own.
func (p *Pager) Health() Health {
	h := Health{Evaluations: p.work.evaluations.Load(), Failures: p.work.failures.Load()}
	at := p.work.evaluated.Load()
	if at != 0 {
		h.Evaluated = time.Unix(0, at)
	}
	if at = cmp.Or(at, p.work.started.Load()); at != 0 {
		if ago := p.clock.wall().Sub(time.Unix(0, at)); ago > stalledAfter {
			h.Stalled = fmt.Errorf("no rules were evaluated for %v: the process has too little CPU, or a part of it hangs; restart it", ago.Round(time.Second))
		}
	}
	for _, d := range p.sender.destinations {
		h.Alertmanagers = append(h.Alertmanagers, d.receiver())
	}
	return h
}

// Groups returns the groups of rules. WallTime converts their times.
func (p *Pager) Groups() []*rules.Group { return p.rules.Load().groups }

// WallTime converts a time of rules and alerts to the wall clock. The zero time stays zero.
func (p *Pager) WallTime(t time.Time) time.Time { return p.clock.toWall(t) }
