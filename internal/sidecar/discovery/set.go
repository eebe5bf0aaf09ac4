// Package models follows which models targets serve, for those of which several
// are probed.
package discovery

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe/target"
)

// Set says which models of a target are probed.
type ModelSet struct {
	Target target.Target
	// Patterns are names, in which * stands for anything; nil means every model.
	Patterns []string
	// Most is how many are probed; the rest is left out.
	Most int
	// Interval is the time between two questions for what is served.
	Interval time.Duration
}

// Open reports whether what is probed depends on what the target lists.
func (s ModelSet) Open() bool { return s.Patterns == nil || slices.ContainsFunc(s.Patterns, isPattern) }

func isPattern(p string) bool { return strings.Contains(p, "*") }

// Pick returns the models to probe, in order of the alphabet so that replicas
// agree, and how many are left out: those that were named, listed or not, before
// those that match.
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
