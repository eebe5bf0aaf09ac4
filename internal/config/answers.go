package config

import (
	"slices"
	"strings"
	"time"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/target"
)

// Canary is the section of fixed prompts whose answers are compared with recorded ones.
type Canary struct {
	// Directory holds a reference for each target, by its name.
	Directory string `yaml:"directory" required:"true" examples:"canaries"`
	// Targets are the names of the compared targets.
	Targets  yamlform.Selection `yaml:"targets" default:"*" examples:"[chat]"`
	Interval time.Duration      `yaml:"interval" default:"5m" min:"10s" max:"1d"`
	// Prompts and Tokens are used for recording. The answers of the model Base, unless it is "", must
	// differ from a target's.
	Prompts []string `yaml:"prompts" min:"1" examples:"[\"List the first ten primes.\"]"`
	Tokens  int      `yaml:"tokens" default:"8" min:"1" max:"256"`
	Base    string   `yaml:"base_model" examples:"llama"`
	// ShowTexts allows the status page to show answers.
	ShowTexts bool `yaml:"show_texts" default:"false"`
}

func (b *builder) canary(c Canary, targets []target.Target) *Canary {
	const path = "answers.canary"
	if !b.Has(path) {
		return nil
	}
	named := c.Targets
	b.selected(path+".targets", named, &b.targetNames)
	c.Directory = b.directory(path+".directory", c.Directory)
	for i, t := range targets {
		at := slices.Index(named, t.Name)
		switch why, remedy := b.incomparable(i, t); {
		case why == "" && named == nil:
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
	b.rejectRepeated(path+".prompts", c.Prompts)
	return &c
}

// incomparable returns why a target cannot have a reference, and the remedy; "" if it can.
func (b *builder) incomparable(i int, t target.Target) (why, remedy string) {
	switch {
	case !strings.HasPrefix(b.targetPaths[i], "targets"):
		return "is discovered, and a reference belongs to one target", "write a target for it"
	case b.Has(yamlform.Index("targets", i) + ".models"):
		return "has models, and a reference belongs to one model", "write a target for each model"
	case !t.API.SupportsChat():
		return "has the API " + string(t.API) + ", and canaries need chat completions", "remove it"
	}
	return "", ""
}

// rejectRepeated reports items of the list at path that are equal to an earlier item.
func (b *builder) rejectRepeated(path string, items []string) {
	seen := map[string]bool{}
	for i, item := range items {
		if at := yamlform.Index(path, i); seen[item] && b.Valid(at) {
			b.Mistake(at, item, "is listed twice", "remove one of the two")
		}
		seen[item] = true
	}
}
