package backtest

import (
	"slices"
	"time"

	"synthetic/internal/rules"
)

// groupWait is the group_wait of the example configuration for Alertmanager. An alert that is
// inhibited for its first groupWait is not sent.
const groupWait = 30 * time.Second

// inhibit removes spans that are inhibited from beginning to end. A span that is inhibited at
// its beginning then begins when Alertmanager first sends it. Inhibited spans inhibit others,
// too. The spans are sorted by From before and after.
func inhibit(spans []Span, by []rules.Inhibition) []Span {
	out := spans
	for _, rule := range by {
		sources := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return !matches(s, rule.Sources, rule.SourceLabels) })
		if len(sources) > 0 {
			out = applyInhibition(out, rule, sources)
		}
	}
	return out
}

// applyInhibition applies a rule to spans. sources are the spans that inhibit others by this
// rule.
func applyInhibition(spans []Span, rule rules.Inhibition, sources []Span) []Span {
	var out []Span
	for _, s := range spans {
		// A span that matches both sides of a rule is not inhibited by it.
		if matches(s, rule.Targets, rule.TargetLabels) && !matches(s, rule.Sources, rule.SourceLabels) {
			var said bool
			if s.From, said = firstSent(s, slices.DeleteFunc(slices.Clone(sources), func(by Span) bool { return !sameLabels(s, by, rule.Equal) })); !said {
				continue
			}
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Span) int { return a.From.Compare(b.From) })
	return out
}

// matches reports whether a span is of one of the alerts and has one of the given values of
// each label.
func matches(s Span, alerts []string, of map[string][]string) bool {
	for name, values := range of {
		if !slices.Contains(values, s.Labels.Get(name)) {
			return false
		}
	}
	return slices.Contains(alerts, s.Alert)
}

// sameLabels reports whether two spans have equal values of the labels. Two missing labels are
// equal.
func sameLabels(a, b Span, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return a.Labels.Get(name) != b.Labels.Get(name) })
}

// firstSent returns when Alertmanager first sends the alert s: when no source has inhibited it
// for groupWait. It returns false if that never happens. An alert that was sent stays sent. An
// alert that is never inhibited is sent however short it is. sources is sorted by From.
func firstSent(s Span, by []Span) (at time.Time, said bool) {
	at = s.From
	for _, b := range by {
		if !b.From.Before(at.Add(groupWait)) {
			break
		}
		if b.To.After(at) {
			at = b.To
		}
	}
	return at, at.Equal(s.From) || s.To.Sub(at) > groupWait
}
