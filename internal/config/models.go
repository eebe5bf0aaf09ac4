package config

import (
	"slices"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar/discovery"

	"synthetic/internal/slo"
)

// models keeps which models of a target are probed, where that is said.
func (b *builder) models(path string, in fileTarget, t target.Target) {
	at := path + ".models"
	if !b.Has(at) {
		b.NoEffect(path, "without models", "remove it, or write models", "max_models", "models_interval")
		return
	}
	for _, other := range []string{"model", "server_metrics"} {
		if b.Has(path+"."+other) && b.Valid(at) {
			b.Mistake(at, "", "stands beside "+other+", which is of one model", "keep one of the two, or write a target for each model")
		}
	}
	seen := map[string]bool{}
	for i, name := range in.Models {
		if item := yamlform.Index(at, i); seen[name] && b.Valid(item) {
			b.Mistake(item, name, "is there twice", "remove one of the two")
		}
		seen[name] = true
	}
	b.sets = append(b.sets, discovery.ModelSet{Target: t, Patterns: in.Models, Most: in.MaxModels, Interval: in.ModelsInterval})
}

// Expand returns the configuration with a target of its own for each model that
// is probed, TARGET/MODEL, from what targets have listed, and for each target that was
// found, GROUP/NAME. A target that has listed nothing yet, or nothing that matches,
// stays as it is: that it cannot be used is to be measured.
func (c *Config) Expand(listed map[string][]string, found map[string][]discovery.Target) *Config {
	by := map[string][]target.Target{}
	for _, s := range c.Models {
		known, answered := listed[s.Target.Name]
		out := derived(s, known)
		if answered && len(s.Patterns) > 0 && out[0].Name == s.Target.Name {
			out[0].Model = s.Patterns[0] // which it does not serve, and says so
		}
		by[s.Target.Name] = out
	}
	for _, g := range c.Discovery {
		by[g.Name()] = []target.Target{}
		for _, t := range found[g.Name()] {
			by[g.Name()] = append(by[g.Name()], t.Of(g.Template))
		}
	}
	return c.expand(by)
}

// ForRules returns the configuration as rules are written for that outlive what
// is listed now: TARGET/* stands for every model, and GROUP/* for every target.
func (c *Config) ForRules() *Config {
	by := map[string][]target.Target{}
	for _, s := range c.Models {
		name, out := s.Target.Name, derived(s, nil)
		if s.Open() {
			s.Target.Name += anyOne
			out = append(out, s.Target)
		}
		by[name] = out
	}
	for _, g := range c.Discovery {
		t := g.Template
		t.Name += anyOne
		by[g.Name()] = []target.Target{t}
	}
	return c.expand(by)
}

// anyOne ends the name of a target that stands for many.
const anyOne = "/*"

// derived are the targets that stand for one. Models whose names differ in
// characters alone that no label of ours has are one target, the first.
func derived(s discovery.ModelSet, listed []string) (out []target.Target) {
	picked, _ := s.Pick(listed)
	for _, model := range picked {
		t := s.Target
		t.Name, t.Model = t.Name+"/"+yamlform.LabelSafe(model), model
		if !slices.ContainsFunc(out, func(o target.Target) bool { return o.Name == t.Name }) {
			out = append(out, t)
		}
	}
	if len(out) > 0 {
		return out
	}
	return []target.Target{s.Target}
}

// expand puts the targets that by has for the name of one in its place.
func (c *Config) expand(by map[string][]target.Target) *Config {
	if len(by) == 0 {
		return c
	}
	each := func(t target.Target) []target.Target {
		if d, stands := by[t.Name]; stands {
			return d
		}
		return []target.Target{t}
	}
	e := *c
	e.Targets, e.Jobs, e.SLOs = nil, nil, slices.Clone(c.SLOs)
	wide := map[string]slo.Objective{}
	for i, o := range e.SLOs {
		e.SLOs[i].Targets = selected(o.Targets, each)
		wide[o.Name] = e.SLOs[i]
	}
	for _, t := range c.Targets {
		e.Targets = append(e.Targets, each(t)...)
	}
	for _, j := range c.Jobs {
		j.Objectives = slices.Clone(j.Objectives)
		for i, o := range j.Objectives {
			j.Objectives[i] = wide[o.Name]
		}
		for _, t := range each(j.Target) {
			j.Target = t
			e.Jobs = append(e.Jobs, j)
		}
	}
	for i := range e.Jobs { // the promise is for all of them together
		e.Jobs[i].Policy.FalsePages *= float64(len(c.Jobs)) / float64(len(e.Jobs))
	}
	return &e
}

// selected are the names of the targets that stand for those of a selection, of
// which there is at least one: none would mean every target.
func selected(names []string, each func(target.Target) []target.Target) (out []string) {
	for _, name := range names {
		for _, t := range each(target.Target{Name: name}) {
			out = append(out, t.Name)
		}
	}
	if out == nil && names != nil {
		return names
	}
	return out
}

// UpTo is how many targets one of the file may stand for.
func (c *Config) UpTo(name string) int {
	for _, g := range c.Discovery {
		if g.Name() == name {
			return g.Most
		}
	}
	for _, s := range c.Models {
		switch {
		case s.Target.Name != name:
		case s.Open():
			return s.Most
		default:
			return min(s.Most, len(s.Patterns))
		}
	}
	return 1
}
