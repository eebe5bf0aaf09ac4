package figures

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/study/runfile"
)

// Difference returns what keeps two studies from being compared, in words, or
// "". What a file does not say is no difference.
func Difference(a, b *Study) string {
	if a.Kind != b.Kind {
		return fmt.Sprintf("the levels of %s are %s, those of %s are %s", a.File, a.LevelName(), b.File, b.LevelName())
	}
	if a.Workload != nil && b.Workload != nil {
		if d := parameterDifference(a.Workload, b.Workload); d != "" {
			return fmt.Sprintf("the workloads of %s and %s differ: %s", a.File, b.File, d)
		}
	}
	if len(a.Objectives) > 0 && len(b.Objectives) > 0 && !slices.Equal(a.Objectives, b.Objectives) {
		return fmt.Sprintf("the SLOs differ: %s in %s, %s in %s", objectives(a), a.File, objectives(b), b.File)
	}
	return ""
}

func objectives(s *Study) string {
	words := make([]string, len(s.Objectives))
	for i, o := range s.Objectives {
		words[i] = fmt.Sprintf("%s (%s)", o.Name, o)
	}
	return strings.Join(words, ", ")
}

func parameterDifference(a, b []runfile.Parameter) string {
	value := func(list []runfile.Parameter, name string) string {
		for _, p := range list {
			if p.Name == name {
				return p.Value
			}
		}
		return "not given"
	}
	for _, p := range slices.Concat(a, b) {
		if x, y := value(a, p.Name), value(b, p.Name); x != y {
			return fmt.Sprintf("%s is %s in the first, %s in the second", p.Name, x, y)
		}
	}
	return ""
}

// RunDifference returns what keeps two runs from being pooled: beside what
// studies have to share, the SLOs in full and the variants.
func RunDifference(a, b *Study) string {
	if d := Difference(a, b); d != "" {
		return d
	}
	for i := range min(len(a.Series), len(b.Series)) {
		if a.Series[i].Name != b.Series[i].Name {
			return fmt.Sprintf("the variants differ: %q in %s, %q in %s", a.Series[i].Name, a.File, b.Series[i].Name, b.File)
		}
	}
	return ""
}

// Join puts studies side by side; the first series of the first study is the
// baseline. Series of equal names take their study's name before it.
func Join(studies []*Study) *Study {
	if len(studies) == 1 {
		return studies[0]
	}
	joined := *studies[0]
	joined.Title = ""
	joined.Series, joined.Method, joined.Deployment, joined.Notes, joined.Warnings = nil, nil, nil, nil, nil
	joined.Capacities = nil
	var titles []string
	for _, s := range studies {
		titles = append(titles, s.Name)
		for _, series := range s.Series {
			series.Name = seriesName(s, series, studies)
			joined.Series = append(joined.Series, series)
		}
		if len(joined.Objectives) == 0 {
			joined.Objectives = s.Objectives
		}
		joined.Method = append(joined.Method, prefixed(s, s.Method, studies)...)
		joined.Deployment = append(joined.Deployment, prefixed(s, s.Deployment, studies)...)
		for _, c := range s.Capacities {
			c.Variant = variantName(s, c.Variant, studies)
			joined.Capacities = append(joined.Capacities, c)
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
	joined.Title = strings.Join(titles, " against ")
	joined.Warnings = append(joined.Warnings, models(joined.Deployment)...)
	return &joined
}

// models warns of a comparison that is one of models as well.
func models(deployment []runfile.Parameter) []string {
	var values []string
	for _, p := range deployment {
		if strings.EqualFold(p.Name, "model") && !slices.Contains(values, p.Value) {
			values = append(values, p.Value)
		}
	}
	if len(values) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("The models differ (%s): what differs in figures may be the model's doing.", strings.Join(values, "; "))}
}

// seriesName is the study's name for its only series, and both names where a
// study has several.
func seriesName(s *Study, series Series, all []*Study) string {
	if len(s.Series) == 1 {
		return s.Name
	}
	for _, other := range all {
		if other != s && slices.ContainsFunc(other.Series, func(x Series) bool { return x.Name == series.Name }) {
			return s.Name + " " + series.Name
		}
	}
	return series.Name
}

// variantName is what a variant of a study is called beside other studies: as
// its series is. What holds for the whole study ("") carries the study's name.
func variantName(s *Study, variant string, all []*Study) string {
	i := slices.IndexFunc(s.Series, func(x Series) bool { return x.Name == variant })
	switch {
	case i >= 0:
		return seriesName(s, s.Series[i], all)
	case variant == "":
		return s.Name
	}
	return s.Name + " " + variant // nothing was measured of it
}

// prefixed marks whose the parameters are.
func prefixed(s *Study, list []runfile.Parameter, all []*Study) []runfile.Parameter {
	out := slices.Clone(list)
	for i := range out {
		out[i].Variant = variantName(s, out[i].Variant, all)
	}
	return out
}
