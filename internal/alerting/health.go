package alerting

import (
	"fmt"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// Health describes the state of a pager. Counts are since its start.
type Health struct {
	// Evaluations counts evaluated rules, Failures failed ones.
	Evaluations, Failures uint64
	// Oldest is the last evaluation of the group that has waited longest, in wall time; zero
	// before the first.
	Oldest time.Time
	// Pending and Firing are numbers of alerts.
	Pending, Firing int
	// Series is the number of gathered series.
	Series int
	// Stalled is why the pager evaluates nothing; nil if it works.
	Stalled error
	// Alertmanagers are in the order of the configuration.
	Alertmanagers []Receiver
}

// Receiver describes an Alertmanager.
type Receiver struct {
	URL string
	// Undelivered is the number of alerts in the last request, if that failed.
	Undelivered int
	// LastOK is when it last accepted alerts; Err is the error of the last request, "" without
	// one.
	LastOK time.Time
	Err    string
	// Sent and Failed count requests.
	Sent, Failed uint64
}

// stalledAfter is the time without an evaluation after which the pager counts as stalled.
const stalledAfter = 5 * time.Minute

// Health returns the state of the pager. It is cheap enough for every scrape, including the
// pager's own.
func (p *Pager) Health() Health {
	h := Health{Series: int(p.feed.stored.Load()), Evaluations: p.evaluations.rules.Load(), Failures: p.evaluations.failed.Load()}
	if at := p.evaluated.Load(); at != 0 {
		if ago := p.clock.wall().Sub(time.Unix(0, at)); ago > stalledAfter {
			h.Stalled = fmt.Errorf("the rules were last evaluated %v ago: the process has too little CPU, or a part of it hangs; restart it", ago.Round(time.Second))
		}
	}
	for _, d := range p.destinations {
		h.Alertmanagers = append(h.Alertmanagers, d.receiver())
	}
	for _, g := range p.Groups() {
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

// Groups returns the groups of rules. WallTime converts their times.
func (p *Pager) Groups() (out []*rules.Group) {
	for _, g := range p.rules.Load().groups {
		out = append(out, g.Group)
	}
	return out
}

// WallTime converts a time of rules and alerts to the wall clock. The zero time stays zero.
func (p *Pager) WallTime(t time.Time) time.Time { return p.clock.toWall(t) }
