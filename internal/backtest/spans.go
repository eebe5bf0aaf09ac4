package backtest

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	promrules "github.com/prometheus/prometheus/rules"
)

// spans collects when alerts fire.
type spans struct {
	open map[*rule]map[uint64]*Span
	done []Span
}

func newSpans() *spans { return &spans{open: map[*rule]map[uint64]*Span{}} }

// observe takes the state of an alert after an evaluation.
func (s *spans) observe(one *rule, at time.Time) {
	open := s.open[one]
	if open == nil {
		open = map[uint64]*Span{}
		s.open[one] = open
	}
	firing := map[uint64]bool{}
	one.alert.ForEachActiveAlert(func(a *promrules.Alert) {
		if a.State != promrules.StateFiring {
			return
		}
		h := a.Labels.Hash()
		firing[h] = true
		if open[h] == nil {
			open[h] = &Span{Alert: one.name, Labels: a.Labels, From: at}
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

// finish ends what still fires and returns all spans in order of time.
func (s *spans) finish(at time.Time) []Span {
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
