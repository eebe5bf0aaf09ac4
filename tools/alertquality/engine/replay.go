// Package engine replays the series of a prober through Prometheus' own rule groups in virtual time, and scores
// the alerts: which incidents they find, how soon, and how many pages are false.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// Source fills a store.
type Source interface {
	// Advance adds every sample up to a time; each call has a later time.
	Advance(store *Store, to time.Time) error
}

// evalPhase sets when a group is evaluated: 1/evalPhase of its interval after the scrape. Prometheus spreads groups
// over the interval; this is the mean.
const evalPhase = 2

// trimEvery is how often old samples are dropped.
const trimEvery = time.Hour

// Span is a time during which an alert fired. To is the first evaluation at which it had stopped.
type Span struct {
	Alert    string
	Labels   labels.Labels
	From, To time.Time
}

// Replay replays src between two times and returns when alerts fired. Rules can be replayed once.
func (r *Rules) Replay(ctx context.Context, src Source, from, to time.Time) ([]Span, error) {
	defer r.engine.Close()
	spans := spanCollector{open: map[*rules.AlertingRule]map[uint64]*Span{}}
	due := make([]time.Time, len(r.groups))
	for i, g := range r.groups {
		if due[i] = from.Truncate(g.Interval()).Add(g.Interval() / evalPhase); due[i].Before(from) {
			due[i] = due[i].Add(g.Interval())
		}
	}
	for trimmed := from; ; {
		at := slices.MinFunc(due, time.Time.Compare)
		if !at.Before(to) {
			break
		}
		if err := cmp.Or(ctx.Err(), src.Advance(r.store, at)); err != nil {
			return nil, err
		}
		for i, g := range r.groups {
			if !due[i].Equal(at) {
				continue
			}
			due[i] = at.Add(g.Interval())
			if err := r.evaluate(ctx, g, at, &spans); err != nil {
				return nil, err
			}
		}
		if at.Sub(trimmed) >= trimEvery {
			r.store.trim(at)
			trimmed = at
		}
	}
	return spans.finish(to), src.Advance(r.store, to)
}

// evaluate evaluates a group, and observes its alerts.
func (r *Rules) evaluate(ctx context.Context, g *rules.Group, at time.Time, spans *spanCollector) error {
	g.Eval(ctx, at)
	for _, rule := range g.Rules() {
		if err := rule.LastError(); err != nil {
			return fmt.Errorf("group %q, %s, at %s: %w", g.Name(), rule.Name(), at.UTC().Format(time.RFC3339), err)
		}
		if alert, ok := rule.(*rules.AlertingRule); ok {
			spans.observe(alert, at)
		}
	}
	return nil
}

// spanCollector records when alerts fire.
type spanCollector struct {
	open map[*rules.AlertingRule]map[uint64]*Span
	done []Span
}

// observe reads the state of an alert after an evaluation.
func (s *spanCollector) observe(rule *rules.AlertingRule, at time.Time) {
	if rule.ActiveAlertsCount() == 0 && len(s.open[rule]) == 0 {
		return
	}
	open := s.open[rule]
	if open == nil {
		open = map[uint64]*Span{}
		s.open[rule] = open
	}
	firing := map[uint64]bool{}
	rule.ForEachActiveAlert(func(a *rules.Alert) {
		if a.State != rules.StateFiring {
			return
		}
		h := a.Labels.Hash()
		firing[h] = true
		if open[h] == nil {
			open[h] = &Span{Alert: rule.Name(), Labels: a.Labels, From: at}
		}
	})
	for h, span := range open {
		if !firing[h] {
			span.To = at
			s.done = append(s.done, *span)
			delete(open, h)
		}
	}
}

// finish ends the spans that are still open and returns all spans, sorted by time.
func (s *spanCollector) finish(at time.Time) []Span {
	for _, open := range s.open {
		for _, span := range open {
			span.To = at
			s.done = append(s.done, *span)
		}
	}
	slices.SortFunc(s.done, func(a, b Span) int {
		return cmp.Or(a.From.Compare(b.From), labels.Compare(a.Labels, b.Labels))
	})
	return s.done
}
