package backtest

import (
	"regexp"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// Inhibition says that, while one alert fires, others are no call: a rule of
// Alertmanager's inhibit_rules.
type Inhibition struct {
	// Source and Target match names of alerts. An alert that both match is not held
	// back.
	Source, Target *regexp.Regexp
	// Equal are the labels that both must have alike; one that both lack is alike.
	Equal []string
}

// Inhibitions are those of the Alertmanager example for the generated rules that
// matter between targets: within one, what fires together is one page anyway.
func Inhibitions() []Inhibition {
	return []Inhibition{{
		Source: regexp.MustCompile(`^SyntheticFleetRegression$`),
		Target: regexp.MustCompile(`^Synthetic(TargetDown|SLO.+|ErrorBudgetExhausted|Regression|CachedRatioDrop|TargetBusy|ConversationsSkipped|UsageMissing|ServerMetricsUnreadable|AcceptanceCollapse)$`),
	}}
}

// groupWait is how long Alertmanager waits before it says the first word of a
// group, by the example that comes with the rules: what is held back until then
// was never said.
const groupWait = 30 * time.Second

// Inhibit leaves out what is held back from its beginning to its end, and lets
// begin when it was first said what is held back at its beginning. The spans are
// in order of From, and stay so.
func Inhibit(spans []Span, rules []Inhibition) []Span {
	for _, rule := range rules {
		spans = rule.apply(spans)
	}
	return spans
}

func (r Inhibition) apply(spans []Span) []Span {
	sources := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return !r.Source.MatchString(s.Alert) })
	if len(sources) == 0 {
		return spans
	}
	var out []Span
	for _, s := range spans {
		if !r.Source.MatchString(s.Alert) && r.Target.MatchString(s.Alert) {
			var said bool
			if s.From, said = firstSaid(s, slices.DeleteFunc(slices.Clone(sources), func(by Span) bool { return !r.alike(s.Labels, by.Labels) })); !said {
				continue
			}
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Span) int { return a.From.Compare(b.From) })
	return out
}

func (r Inhibition) alike(a, b labels.Labels) bool {
	return !slices.ContainsFunc(r.Equal, func(name string) bool { return a.Get(name) != b.Get(name) })
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
