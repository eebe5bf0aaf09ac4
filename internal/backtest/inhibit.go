package backtest

import (
	"slices"
	"time"

	"synthetic/internal/rules"
)

// groupWait is how long Alertmanager waits before it says the first word of a
// group, by the example that comes with the rules: what is held back until then
// was never said.
const groupWait = 30 * time.Second

// Inhibit leaves out what is held back from its beginning to its end, and lets
// begin when it was first said what is held back at its beginning. What is held back
// holds back, too. The spans are in order of From, and stay so.
func Inhibit(spans []Span, by []rules.Inhibition) []Span {
	out := spans
	for _, rule := range by {
		sources := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return !is(s, rule.Sources, rule.SourceLabels) })
		if len(sources) > 0 {
			out = heldBack(out, rule, sources)
		}
	}
	return out
}

// heldBack applies a rule that has sources.
func heldBack(spans []Span, rule rules.Inhibition, sources []Span) []Span {
	var out []Span
	for _, s := range spans {
		// What a rule means on both sides is not held back by it.
		if is(s, rule.Targets, rule.TargetLabels) && !is(s, rule.Sources, rule.SourceLabels) {
			var said bool
			if s.From, said = firstSaid(s, slices.DeleteFunc(slices.Clone(sources), func(by Span) bool { return !alike(s, by, rule.Equal) })); !said {
				continue
			}
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Span) int { return a.From.Compare(b.From) })
	return out
}

// is says that a span is of one of the alerts, and has one of the values of each
// label.
func is(s Span, alerts []string, of map[string][]string) bool {
	for name, values := range of {
		if !slices.Contains(values, s.Labels.Get(name)) {
			return false
		}
	}
	return slices.Contains(alerts, s.Alert)
}

// alike says that two spans have the same values of labels; one that both lack is
// alike.
func alike(a, b Span, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return a.Labels.Get(name) != b.Labels.Get(name) })
}

// firstSaid is the first time from which on nothing holds a span back for as
// long as Alertmanager waits; false if there is none. What was said once stays
// said. The spans by which it is held back are in order of From. An alert that
// nothing held back counts however short it is.
func firstSaid(s Span, by []Span) (at time.Time, said bool) {
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
