package config

import (
	"slices"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/slo"
)

// readModels makes a target TARGET/MODEL of each model of a target.
func (b *builder) readModels(path string, f fileTarget, t target.Target) {
	at := path + ".models"
	if !b.Has(at) {
		return
	}
	for _, other := range []string{"model", "server_metrics"} {
		if b.Has(path+"."+other) && b.Valid(at) {
			b.Mistake(at, "", "cannot be combined with "+other+", which belongs to one model", "keep one of the two, or write a target for each model")
		}
	}
	seen := map[string]bool{}
	for i, model := range f.Models {
		one, item := t, yamlform.Index(at, i)
		if label := yamlform.LabelSafe(model); seen[label] && b.Valid(item) {
			b.Mistake(item, model, "has the same target name as an earlier model", "remove one of the two")
		} else {
			seen[label] = true
		}
		one.Name, one.Model = t.Name+"/"+yamlform.LabelSafe(model), model
		b.models[t.Name] = append(b.models[t.Name], one)
	}
}

// WithDiscovered returns the configuration with a target GROUP/NAME for each found target. found has the
// targets by group.
func (c *Config) WithDiscovered(found map[string][]discovery.Target) *Config {
	replacements := map[string][]target.Target{}
	for _, g := range c.Discovery {
		replacements[g.Name()] = []target.Target{}
		for _, t := range found[g.Name()] {
			replacements[g.Name()] = append(replacements[g.Name()], t.Of(g.Template))
		}
	}
	return c.replaceTargets(replacements)
}

// ForRules returns the configuration for rules, which must not depend on the current targets: GROUP/*
// stands for every target of a group.
func (c *Config) ForRules() *Config {
	replacements := map[string][]target.Target{}
	for _, g := range c.Discovery {
		t := g.Template
		t.Name += anyName
		replacements[g.Name()] = []target.Target{t}
	}
	return c.replaceTargets(replacements)
}

// anyName ends the name of a target that stands for many.
const anyName = "/*"

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
	return 1
}

// Footprint returns the expected tokens of a day. known is true if the tokens of every job are known.
func (c *Config) Footprint() (day workload.Tokens, known bool) {
	known = true
	for _, j := range c.Jobs {
		day = day.Plus(j.Footprint.Day.Times(float64(c.UpTo(j.Target.Name))))
		known = known && j.Footprint.Day.Sum() > 0
	}
	return day, known
}
