package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/study/runs"
)

// Difference returns why two studies cannot be compared, or "". Missing information is no difference.
func Difference(a, b *Study) string {
	if a.Kind != b.Kind {
		return fmt.Sprintf("the levels of %s are %s, those of %s are %s", a.File, a.LevelName(), b.File, b.LevelName())
	}
	if a.Workload != nil && b.Workload != nil {
		for _, p := range slices.Concat(a.Workload, b.Workload) {
			if x, y := valueOf(a.Workload, "", p.Name, "not given"), valueOf(b.Workload, "", p.Name, "not given"); x != y {
				return fmt.Sprintf("the workloads of %s and %s differ: %s is %s in the first, %s in the second", a.File, b.File, p.Name, x, y)
			}
		}
	}
	if len(a.Objectives) > 0 && len(b.Objectives) > 0 && !slices.Equal(objectiveWords(a), objectiveWords(b)) {
		return fmt.Sprintf("the SLOs differ: %s in %s, %s in %s", objectiveList(a), a.File, objectiveList(b), b.File)
	}
	return ""
}

func objectiveList(s *Study) string {
	words := make([]string, len(s.Objectives))
	for i, o := range s.Objectives {
		words[i] = fmt.Sprintf("%s (%s)", o.Name, wordsOf(o))
	}
	return strings.Join(words, ", ")
}

// Join puts studies side by side. The first series of the first study is the baseline. Series
// with equal names get the name of their study as a prefix.
func Join(studies []*Study) *Study {
	first := studies[0]
	if len(studies) == 1 {
		return first
	}
	joined := &Study{Kind: first.Kind, Metric: first.Metric, Compared: true, TargetRPS: first.TargetRPS, Setup: Setup{Workload: first.Workload}}
	for _, s := range studies {
		for _, series := range s.Series {
			own := series.Name
			series.Name = s.nameAmong(studies, own)
			joined.Series = append(joined.Series, series)
			for _, p := range s.Deployment {
				if p.Variant == "" || p.Variant == own {
					p.Variant = series.Name
					joined.Deployment = append(joined.Deployment, p)
				}
			}
		}
		joined.Interrupted = cmp.Or(joined.Interrupted, s.Interrupted)
		if len(joined.Objectives) == 0 {
			joined.Objectives = s.Objectives
		}
		for _, p := range s.Method {
			p.Variant = s.nameAmong(studies, p.Variant)
			joined.Method = append(joined.Method, p)
		}
		for _, n := range s.Notes {
			joined.Notes = append(joined.Notes, s.Name+": "+n)
		}
		for _, w := range s.Warnings {
			joined.Warnings = append(joined.Warnings, s.Name+": "+w)
		}
		if s.Generated.After(joined.Generated) {
			joined.Generated = s.Generated
		}
	}
	joined.describe()
	joined.Warnings = append(joined.Warnings, modelWarnings(joined.Deployment)...)
	return joined
}

func modelWarnings(deployment []runs.Parameter) []string {
	var values []string
	for _, p := range deployment {
		if strings.EqualFold(p.Name, "model") && !slices.Contains(values, p.Value) {
			values = append(values, p.Value)
		}
	}
	if len(values) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("The models differ (%s), which may be the reason for different figures.", strings.Join(values, "; "))}
}

// nameAmong returns the name of a variant beside other studies: the study's name if it has one series, the variant's
// name if no other study has it, otherwise both. Information on the whole study (variant "") gets the study's name.
func (s *Study) nameAmong(all []*Study, variant string) string {
	measured := s.seriesIndex(variant) >= 0
	switch {
	case variant == "" || measured && len(s.Series) == 1:
		return s.Name
	case measured && !slices.ContainsFunc(all, func(o *Study) bool { return o != s && o.seriesIndex(variant) >= 0 }):
		return variant
	}
	return s.Name + " " + variant
}
