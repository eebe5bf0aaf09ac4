package config

import (
	"os"
	"time"

	"synthetic/internal/canary"
	"synthetic/internal/slo"
	"synthetic/internal/yamlform"
)

// Canary is how answers to fixed prompts are compared with recorded ones.
type Canary struct {
	// Directory has a reference for each target, by its name.
	Directory string
	// Targets are the names of those that have one.
	Targets  []string
	Interval time.Duration
	// Prompts and Tokens are recorded, Base is the model whose answers must differ
	// from a target's; "" for none.
	Prompts []string
	Tokens  int
	Base    string
	// ShowTexts says that the page may show what was answered.
	ShowTexts bool
}

// answers resolves the section.
func (b *builder) answers(a fileAnswers) (slo.Severity, *Canary) {
	const path = "answers.canary"
	if !b.Has(path) {
		return a.Severity, nil
	}
	f := a.Canary
	b.selected(path+".targets", f.Targets, b.targetNames, "target", "targets")
	c := &Canary{
		Directory: b.resolve(f.Directory), Targets: f.Targets, Interval: f.Interval,
		Prompts: f.Prompts, Tokens: f.Tokens, Base: f.Base, ShowTexts: f.ShowTexts,
	}
	if c.Targets == nil {
		c.Targets = b.targetNames
	}
	if c.Prompts == nil {
		c.Prompts = canary.DefaultPrompts()
	}
	if at := path + ".directory"; b.Fine(at) {
		if info, err := os.Stat(c.Directory); err == nil && !info.IsDir() {
			b.Mistake(at, f.Directory, "is not a directory", "name a directory, or a path where one can be made")
		}
	}
	if i, ok := repeated(c.Prompts); ok && b.Fine(path+".prompts") {
		b.Mistake(yamlform.Index(path+".prompts", i), "", "is there twice", "remove one of the two")
	}
	return a.Severity, c
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
