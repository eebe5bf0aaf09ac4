package alerting

import (
	"sync"
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
	// Alertmanagers are in the order of the configuration.
	Alertmanagers []Receiver
}

// Health returns how the pager is doing. It is cheap enough for every scrape,
// the pager's own included.
func (p *Pager) Health() Health {
	h := Health{Series: int(p.feed.stored.Load()), Refused: p.feed.refused.Load(), Alertmanagers: p.receivers()}
	h.Evaluations, h.Failures, h.Missed = p.evaluations.counts()
	for _, g := range p.groups() {
		h.Slowest = max(h.Slowest, g.GetEvaluationTime())
		last := p.clock.toWall(g.GetLastEvalTimestamp())
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

// groups are those of the rule manager; none before Run.
func (p *Pager) groups() []*rules.Group {
	manager := p.manager.Load()
	if manager == nil {
		return nil
	}
	return manager.RuleGroups()
}

// evaluations counts what the rule manager does. Its own counters begin anew
// when a group changes.
type evaluations struct {
	mu                  sync.Mutex
	rules, failed, late uint64
}

// note counts an evaluation of a group that just ended; before is the one
// before it, zero for none.
func (e *evaluations) note(g *rules.Group, before, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range g.Rules() {
		e.rules++
		if r.LastError() != nil {
			e.failed++
		}
	}
	if !before.IsZero() {
		e.late += missed(now.Sub(before), g.Interval())
	}
}

// missed is how many evaluations there should have been between two.
func missed(passed, interval time.Duration) uint64 {
	return uint64(max(0, passed.Round(interval)/interval-1))
}

func (e *evaluations) counts() (rules, failed, late uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rules, e.failed, e.late
}
