package engine

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
func inhibit(spans []Span, inhibitions []rules.Inhibition) []Span {
	out := spans
	for _, rule := range inhibitions {
		sources := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return !matches(s, rule.Sources, rule.SourceLabels) })
		if len(sources) > 0 {
			out = applyInhibition(out, rule, sources)
		}
	}
	return out
}

// applyInhibition applies one of Alertmanager's inhibition rules: a span that a source mutes
// starts later, when Alertmanager would first send it, or is dropped if it would never be sent.
// sources are the spans of the rule's source alerts.
func applyInhibition(spans []Span, rule rules.Inhibition, sources []Span) []Span {
	var out []Span
	for _, s := range spans {
		// A span that matches both sides of a rule is not inhibited by it.
		if matches(s, rule.Targets, rule.TargetLabels) && !matches(s, rule.Sources, rule.SourceLabels) {
			inhibiting := slices.DeleteFunc(slices.Clone(sources), func(source Span) bool { return !sameLabels(s, source, rule.Equal) })
			at, sent := firstSent(s, inhibiting)
			if !sent {
				continue
			}
			s.From = at
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Span) int { return a.From.Compare(b.From) })
	return out
}

// matches reports whether alerts contains the span's alert, and labelValues allows its labels.
func matches(s Span, alerts []string, labelValues map[string][]string) bool {
	for name, values := range labelValues {
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
func firstSent(s Span, sources []Span) (at time.Time, sent bool) {
	at = s.From
	for _, source := range sources {
		if !source.From.Before(at.Add(groupWait)) {
			break
		}
		if source.To.After(at) {
			at = source.To
		}
	}
	return at, at.Equal(s.From) || s.To.Sub(at) > groupWait
}
