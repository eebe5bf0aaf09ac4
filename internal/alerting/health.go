package alerting

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// Health describes the state of a pager. Counts are since its start.
type Health struct {
	// Evaluations counts evaluated rules, Failures failed ones, and Missed the evaluations of
	// groups that were skipped because earlier ones took too long.
	Evaluations, Failures, Missed uint64
	// Slowest is the duration of the last evaluation of the slowest group.
	Slowest time.Duration
	// Oldest is the last evaluation of the group that has waited longest, in wall time; zero
	// before the first.
	Oldest time.Time
	// Pending and Firing are numbers of alerts.
	Pending, Firing int
	// Series is the number of stored series, Refused that of rejected samples.
	Series  int
	Refused uint64
	// Stalled is why the pager neither stores nor evaluates; nil if it works.
	Stalled error
	// Alertmanagers are in the order of the configuration.
	Alertmanagers []Receiver
}

// Receiver describes an Alertmanager.
type Receiver struct {
	URL string
	// Undelivered is the number of alerts whose state it has not received yet.
	Undelivered int
	// LastOK is when it last accepted alerts; Err is the error of the last request, "" without
	// one.
	LastOK time.Time
	Err    string
	// Sent and Failed count requests, Rejected refused alerts.
	Sent, Failed, Rejected uint64
}

// Health returns the state of the pager. It is cheap enough for every scrape, including the
// pager's own.
func (p *Pager) Health() Health {
	h := Health{Series: int(p.feed.stored.Load()), Refused: p.feed.refused.Load()}
	if reason := p.stalled.Load(); reason != nil {
		h.Stalled = *reason
	}
	for _, l := range p.sendLoops {
		h.Alertmanagers = append(h.Alertmanagers, l.receiver())
	}
	h.Evaluations, h.Failures, h.Missed = p.evaluations.rules.Load(), p.evaluations.failed.Load(), p.evaluations.missed.Load()
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

// Groups returns the groups of the rule manager; none before Run. WallTime converts their
// times.
func (p *Pager) Groups() []*rules.Group {
	manager := p.manager.Load()
	if manager == nil {
		return nil
	}
	return manager.RuleGroups()
}

// WallTime converts a time of rules and alerts to the wall clock. The zero time stays zero.
func (p *Pager) WallTime(t time.Time) time.Time { return p.clock.toWall(t) }

// evaluations counts evaluations. The rule manager's own counters restart when a group changes.
type evaluations struct{ rules, failed, missed atomic.Uint64 }

// add counts a finished evaluation of a group. last is the time of the previous one, zero for
// none.
func (e *evaluations) add(g *rules.Group, last, now time.Time) {
	for _, r := range g.Rules() {
		e.rules.Add(1)
		if r.LastError() != nil {
			e.failed.Add(1)
		}
	}
	if !last.IsZero() {
		e.missed.Add(missed(now.Sub(last), g.Interval()))
	}
}

// missed returns the number of evaluations that are missing between two.
func missed(passed, interval time.Duration) uint64 {
	return uint64(max(0, passed.Round(interval)/interval-1))
}
