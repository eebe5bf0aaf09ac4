package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	promrules "github.com/prometheus/prometheus/rules"
)

// spanCollector records when alerts fire.
type spanCollector struct {
	open map[*rule]map[uint64]*Span
	done []Span
}

func newSpanCollector() *spanCollector { return &spanCollector{open: map[*rule]map[uint64]*Span{}} }

// observe reads the state of an alert after an evaluation.
func (s *spanCollector) observe(rule *rule, at time.Time) {
	open := s.open[rule]
	if open == nil {
		open = map[uint64]*Span{}
		s.open[rule] = open
	}
	firing := map[uint64]bool{}
	rule.alert.ForEachActiveAlert(func(a *promrules.Alert) {
		if a.State != promrules.StateFiring {
			return
		}
		h := a.Labels.Hash()
		firing[h] = true
		if open[h] == nil {
			open[h] = &Span{Alert: rule.name, Labels: a.Labels, From: at}
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
