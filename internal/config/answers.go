package config

import (
	"slices"
	"strings"
	"time"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/target"
	"synthetic/internal/slo"
)

// Canary is how answers to fixed prompts are compared with recorded ones.
type Canary struct {
	// Directory has a reference for each target, by its name.
	Directory string `yaml:"directory" required:"true" examples:"canaries"`
	// Targets are the names of those that have one.
	Targets  yamlform.Selection `yaml:"targets" default:"*" examples:"[chat]"`
	Interval time.Duration      `yaml:"interval" default:"5m" min:"10s" max:"1d"`
	// Prompts and Tokens are recorded, Base is the model whose answers must differ
	// from a target's; "" for none.
	Prompts []string `yaml:"prompts" min:"1" examples:"[\"List the first ten primes.\"]"`
	Tokens  int      `yaml:"tokens" default:"8" min:"1" max:"256"`
	Base    string   `yaml:"base_model" examples:"llama"`
}

// answers resolves the section.
func (b *builder) answers(a fileAnswers, targets []target.Target) (slo.Severity, *Canary) {
	const path = "answers.canary"
	if !b.Has(path) {
		return a.Severity, nil
	}
	c, f := &a.Canary, a.Canary // as it was written
	b.selected(path+".targets", f.Targets, b.targetNames, "target", "targets")
	c.Directory = b.directory(path+".directory", f.Directory)
	for i, t := range targets {
		at := slices.Index(f.Targets, t.Name)
		switch why, remedy := b.incomparable(i, t); {
		case why == "" && f.Targets == nil:
			c.Targets = append(c.Targets, t.Name)
		case why != "" && at >= 0 && b.Valid(yamlform.Index(path+".targets", at)):
			b.Mistake(yamlform.Index(path+".targets", at), t.Name, why, remedy)
		}
	}
	if len(c.Targets) == 0 && b.namesValid("targets", len(targets)) && b.Valid(path) {
		b.Mistake(path, "", "has no target that can be compared", "write a target of chat completions for each model, or remove it")
	}
	if c.Prompts == nil {
		c.Prompts = answers.DefaultPrompts()
	}
	if i, ok := repeated(c.Prompts); ok && b.Valid(path+".prompts") {
		b.Mistake(yamlform.Index(path+".prompts", i), "", "is there twice", "remove one of the two")
	}
	return a.Severity, c
}

// incomparable says why the answers of target i have no one reference, and what to
// do; "" if they have.
func (b *builder) incomparable(i int, t target.Target) (why, remedy string) {
	switch {
	case !strings.HasPrefix(b.targetPaths[i], "targets"):
		return "is discovered, and a reference is of one target", "write a target for it"
	case b.Has(yamlform.Index("targets", i) + ".models"):
		return "has models, and a reference is of one model", "write a target for each model"
	case !t.API.SupportsChat():
		return "has the API " + string(t.API) + ", and canaries need chat completions", "remove it"
	}
	return "", ""
}

// repeated returns the index of the first that is there before.
func repeated(texts []string) (int, bool) {
	seen := map[string]bool{}
	for i, t := range texts {
		if seen[t] {
			return i, true
		}
		seen[t] = true
	}
	return 0, false
}
