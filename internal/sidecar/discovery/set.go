package discovery

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe/target"
)

// ModelSet selects the models of a target to probe.
type ModelSet struct {
	Target target.Target
	// Patterns are names, in which * matches anything; nil means every model.
	Patterns []string
	// Most is the largest number of models to probe.
	Most int
	// Interval is the time between two requests.
	Interval time.Duration
}

// Open reports whether the selection depends on the target's answer.
func (s ModelSet) Open() bool { return s.Patterns == nil || slices.ContainsFunc(s.Patterns, isPattern) }

func isPattern(p string) bool { return strings.Contains(p, "*") }

// Pick returns the models to probe and the number of those left out. Named models come first,
// listed or not, then matching ones in alphabetical order, so that replicas agree.
func (s ModelSet) Pick(listed []string) (models []string, left int) {
	var matching []string
	for _, p := range s.Patterns {
		if !isPattern(p) {
			models = append(models, p)
		}
	}
	for _, m := range listed {
		if !slices.Contains(models, m) && s.matches(m) {
			matching = append(matching, m)
		}
	}
	slices.Sort(models)
	slices.Sort(matching)
	models = append(models, slices.Compact(matching)...)
	most := min(s.Most, len(models))
	return models[:most:most], len(models) - most
}

func (s ModelSet) matches(model string) bool {
	if s.Patterns == nil {
		return true
	}
	return slices.ContainsFunc(s.Patterns, func(p string) bool {
		expr := strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*")
		return regexp.MustCompile("^(?s:" + expr + ")$").MatchString(model)
	})
}
