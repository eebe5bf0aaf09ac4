package alerting

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// Health is how a pager itself is doing. Counts are since its start.
type Health struct {
	// Evaluations counts the rules evaluated, Failures those that could not be,
	// Missed the evaluations of groups left out because those before took too
	// long.
	Evaluations, Failures, Missed uint64
	// Slowest is what the last evaluation of the slowest group took.
	Slowest time.Duration
	// Oldest is the last evaluation of the group that waits longest, by the wall
	// clock; zero before the first.
	Oldest time.Time
	// Pending and Firing count alerts.
	Pending, Firing int
	// Series are stored now, Refused the samples that never were.
	Series  int
	Refused uint64
	// Standing is why the pager neither stores nor evaluates; nil if it does.
	Standing error
	// Alertmanagers are in the order of the configuration.
	Alertmanagers []Receiver
}

// Receiver is an Alertmanager as the pager knows it.
type Receiver struct {
	URL string
	// Undelivered counts the alerts whose state it does not know yet.
	Undelivered int
	// LastOK is when it last took alerts; Err is why it did not the last time,
	// "" if it did.
	LastOK time.Time
	Err    string
	// Sent and Failed count requests, Rejected the alerts that it refused.
	Sent, Failed, Rejected uint64
}

// Health returns how the pager is doing. It is cheap enough for every scrape,
// the pager's own included.
func (p *Pager) Health() Health {
	h := Health{Series: int(p.feed.stored.Load()), Refused: p.feed.refused.Load()}
	if why := p.standing.Load(); why != nil {
		h.Standing = *why
	}
	for _, l := range p.sendLoops {
		h.Alertmanagers = append(h.Alertmanagers, l.receiver())
	}
	h.Evaluations, h.Failures, h.Missed = p.evaluations.rules.Load(), p.evaluations.failed.Load(), p.evaluations.late.Load()
	for _, g := range p.Groups() {
		h.Slowest = max(h.Slowest, g.GetEvaluationTime())
		last := p.WallTime(g.GetLastEvalTimestamp())
		if h.Oldest.IsZero() || !last.IsZero() && last.Before(h.Oldest) {
			h.Oldest = last
		}
		for _, r := range g.AlertingRules() {
			r.ForEachActiveAlert(func(a *rules.Alert) {
				switch a.State {
				case rules.StatePending:
					h.Pending++
				case rules.StateFiring:
					h.Firing++
				}
			})
		}
	}
	return h
}

// Groups are those of the rule manager; none before Run. Their times are of the
// pager's clock, which WallTime translates.
func (p *Pager) Groups() []*rules.Group {
	manager := p.manager.Load()
	if manager == nil {
		return nil
	}
	return manager.RuleGroups()
}

// WallTime translates a time of rules and alerts to the wall clock; the zero time
// stays zero.
func (p *Pager) WallTime(t time.Time) time.Time { return p.clock.toWall(t) }

// evaluations counts what the rule manager does. Its own counters begin anew
// when a group changes.
type evaluations struct{ rules, failed, late atomic.Uint64 }

// note counts an evaluation of a group that just ended; before is the one
// before it, zero for none.
func (e *evaluations) note(g *rules.Group, before, now time.Time) {
	for _, r := range g.Rules() {
		e.rules.Add(1)
		if r.LastError() != nil {
			e.failed.Add(1)
		}
	}
	if !before.IsZero() {
		e.late.Add(missed(now.Sub(before), g.Interval()))
	}
}

// missed is how many evaluations there should have been between two.
func missed(passed, interval time.Duration) uint64 {
	return uint64(max(0, passed.Round(interval)/interval-1))
}
