package metrics

import (
	"cmp"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
)

// labels are pairs sorted by name, as the exposition wants them. Series share
// them: a pair is made once per frame, a set once per job.
type labels []*dto.LabelPair

func pair(name, value string) *dto.LabelPair {
	return &dto.LabelPair{Name: &name, Value: &value}
}

// pairs makes the pairs of one label, one per value.
func pairs(name string, values []string) []*dto.LabelPair {
	made := make([]*dto.LabelPair, len(values))
	for i, v := range values {
		made[i] = pair(name, v)
	}
	return made
}

// with returns the labels and more.
func (l labels) with(more ...*dto.LabelPair) labels {
	all := slices.Concat(l, more)
	slices.SortFunc(all, func(a, b *dto.LabelPair) int { return cmp.Compare(*a.Name, *b.Name) })
	return all
}

// vocabulary holds the pairs whose values are the same for every job.
type vocabulary struct {
	turns, reasons, skips, phases, signals, parts []*dto.LabelPair

	slos map[string]*dto.LabelPair
}

func newVocabulary() *vocabulary {
	return &vocabulary{
		turns:   pairs(LabelTurn, text(probe.TurnKinds())),
		reasons: pairs(LabelReason, text(probe.Failures())),
		skips:   pairs(LabelReason, SkipReasons()),
		phases:  pairs(LabelPhase, Phases()),
		signals: pairs(LabelSignal, text(regression.Signals())),
		parts:   pairs(LabelPart, text(regression.Parts())),
		slos:    map[string]*dto.LabelPair{},
	}
}

// slo returns the pair of an objective's name.
func (v *vocabulary) slo(name string) *dto.LabelPair {
	if v.slos[name] == nil {
		v.slos[name] = pair(LabelSLO, name)
	}
	return v.slos[name]
}

func text[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}
