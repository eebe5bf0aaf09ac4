package engine

import (
	"fmt"
	"slices"
	"time"

	amlabels "github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/prometheus/model/labels"
	"go.yaml.in/yaml/v3"

	"synthetic/examples/alertmanager"
)

// groupWait is the group_wait of the example configuration for Alertmanager. An alert that is
// inhibited for its first groupWait is not sent.
const groupWait = 30 * time.Second

// Inhibition is an inhibition rule of an Alertmanager: while a source fires, the targets with the same values of the
// labels Equal are not sent.
type Inhibition struct {
	Sources matchers `yaml:"source_matchers"`
	Targets matchers `yaml:"target_matchers"`
	Equal   []string `yaml:"equal"`
}

// Inhibitions returns the rules of the example configuration.
func Inhibitions() []Inhibition {
	var file struct {
		Rules []Inhibition `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(alertmanager.Config, &file); err != nil {
		panic(fmt.Sprintf("the example configuration of Alertmanager: %v", err)) // the file is built in
	}
	return file.Rules
}

// matchers select spans.
type matchers []*amlabels.Matcher

// UnmarshalYAML reads a list such as [alertname="A", severity="page"].
func (m *matchers) UnmarshalYAML(node *yaml.Node) error {
	var texts []string
	if err := node.Decode(&texts); err != nil {
		return err
	}
	for _, text := range texts {
		one, err := amlabels.ParseMatcher(text)
		if err != nil {
			return err
		}
		*m = append(*m, one)
	}
	return nil
}

func (m matchers) match(s Span) bool {
	return !slices.ContainsFunc(m, func(one *amlabels.Matcher) bool {
		value := s.Labels.Get(one.Name)
		if one.Name == labels.AlertName {
			value = s.Alert
		}
		return !one.Matches(value)
	})
}

// inhibit removes spans that are inhibited from beginning to end. A span that is inhibited at
// its beginning then begins when Alertmanager first sends it. Inhibited spans inhibit others,
// too. The spans are sorted by From before and after.
func inhibit(spans []Span, inhibitions []Inhibition) []Span {
	out := spans
	for _, rule := range inhibitions {
		sources := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return !rule.Sources.match(s) })
		if len(sources) > 0 {
			out = applyInhibition(out, rule, sources)
		}
	}
	return out
}

// applyInhibition applies one of Alertmanager's inhibition rules: a span that a source mutes
// starts later, when Alertmanager would first send it, or is dropped if it would never be sent.
// sources are the spans of the rule's source alerts.
func applyInhibition(spans []Span, rule Inhibition, sources []Span) []Span {
	var out []Span
	for _, s := range spans {
		// A span that matches both sides of a rule is not inhibited by it.
		if rule.Targets.match(s) && !rule.Sources.match(s) {
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
