package config

import (
	"slices"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/slo"
)

// models resolves which models of a target are probed.
func (b *builder) models(path string, f fileTarget, t target.Target) {
	at := path + ".models"
	if !b.Has(at) {
		b.NoEffect(path, "without models", "remove it, or write models", "max_models", "models_interval")
		return
	}
	for _, other := range []string{"model", "server_metrics"} {
		if b.Has(path+"."+other) && b.Valid(at) {
			b.Mistake(at, "", "cannot be combined with "+other+", which belongs to one model", "keep one of the two, or write a target for each model")
		}
	}
	b.rejectRepeated(at, f.Models)
	b.modelSets = append(b.modelSets, discovery.ModelSet{Target: t, Patterns: f.Models, Most: f.MaxModels, Interval: f.ModelsInterval})
}

// WithDiscovered returns the configuration with a target for each listed model, TARGET/MODEL, and for
// each found target, GROUP/NAME. listed has the models by target, found the targets by group. A target
// without a matching model stays as it is: its turns fail, and that is measured.
func (c *Config) WithDiscovered(listed map[string][]string, found map[string][]discovery.Target) *Config {
	replacements := map[string][]target.Target{}
	for _, s := range c.Models {
		models, answered := listed[s.Target.Name]
		out := modelTargets(s, models)
		if answered && len(s.Patterns) > 0 && out[0].Name == s.Target.Name {
			out[0].Model = s.Patterns[0] // a missing model; the turn's error will say so
		}
		replacements[s.Target.Name] = out
	}
	for _, g := range c.Discovery {
		replacements[g.Name()] = []target.Target{}
		for _, t := range found[g.Name()] {
			replacements[g.Name()] = append(replacements[g.Name()], t.Of(g.Template))
		}
	}
	return c.replaceTargets(replacements)
}

// ForRules returns the configuration for rules, which must not depend on the current targets: TARGET/*
// stands for every model and GROUP/* for every target.
func (c *Config) ForRules() *Config {
	replacements := map[string][]target.Target{}
	for _, s := range c.Models {
		name, out := s.Target.Name, modelTargets(s, nil)
		if s.Open() {
			s.Target.Name += anyName
			out = append(out, s.Target)
		}
		replacements[name] = out
	}
	for _, g := range c.Discovery {
		t := g.Template
		t.Name += anyName
		replacements[g.Name()] = []target.Target{t}
	}
	return c.replaceTargets(replacements)
}

// anyName ends the name of a target that stands for many.
const anyName = "/*"

// modelTargets returns the targets of the picked models, or the target itself. Models whose names
// become equal as labels are one target.
func modelTargets(s discovery.ModelSet, listed []string) (out []target.Target) {
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

// replaceTargets returns a copy in which targets are replaced, by name.
func (c *Config) replaceTargets(replacements map[string][]target.Target) *Config {
	if len(replacements) == 0 {
		return c
	}
	replace := func(t target.Target) []target.Target {
		if r, ok := replacements[t.Name]; ok {
			return r
		}
		return []target.Target{t}
	}
	out := *c
	out.Targets, out.Jobs, out.SLOs = nil, nil, slices.Clone(c.SLOs)
	replaced := map[string]slo.Objective{}
	for i, o := range out.SLOs {
		out.SLOs[i].Targets = replaceNames(o.Targets, replace)
		replaced[o.Name] = out.SLOs[i]
	}
	for _, t := range c.Targets {
		out.Targets = append(out.Targets, replace(t)...)
	}
	for _, j := range c.Jobs {
		j.Objectives = slices.Clone(j.Objectives)
		for i, o := range j.Objectives {
			j.Objectives[i] = replaced[o.Name]
		}
		for _, t := range replace(j.Target) {
			j.Target = t
			out.Jobs = append(out.Jobs, j)
		}
	}
	for i := range out.Jobs { // all jobs share the accepted false pages
		out.Jobs[i].Policy.FalsePages *= float64(len(c.Jobs)) / float64(len(out.Jobs))
	}
	return &out
}

// replaceNames replaces the names of a selection. If nothing is left, it returns names, because nil
// would select every target.
func replaceNames(names []string, replace func(target.Target) []target.Target) (out []string) {
	for _, name := range names {
		for _, t := range replace(target.Target{Name: name}) {
			out = append(out, t.Name)
		}
	}
	if out == nil && names != nil {
		return names
	}
	return out
}

// UpTo returns how many targets a target of the file may stand for.
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

// Footprint returns the expected tokens of a day, and their cost. priced is true if every job has a
// price, known if the tokens of every job are known.
func (c *Config) Footprint() (day workload.Tokens, money float64, priced, known bool) {
	priced, known = true, true
	for _, j := range c.Jobs {
		upTo := float64(c.UpTo(j.Target.Name))
		day = day.Plus(j.Footprint.Day.Times(upTo))
		known = known && j.Footprint.Day.Sum() > 0
		if j.Price == nil {
			priced = false
			continue
		}
		money += j.Price.Cost(j.Footprint.Day) * upTo
	}
	return day, money, priced, known
}
