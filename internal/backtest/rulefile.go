package backtest

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"synthetic/internal/rules"
)

// RuleFile is a rule file to score.
type RuleFile struct {
	// Name identifies the rules in reports.
	Name string
	Text []byte
	RuleOptions
}

// ReadRuleFile reads and checks the rule file that arg names, as PATH or NAME=PATH.
func ReadRuleFile(arg string, o RuleOptions) (RuleFile, error) {
	name, path, named := strings.Cut(arg, "=")
	if !named {
		name, path = filepath.Base(arg), arg
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return RuleFile{}, err
	}
	if _, err := LoadRules(name, text, o); err != nil {
		return RuleFile{}, err
	}
	return RuleFile{Name: name, Text: text, RuleOptions: o}, nil
}

// GeneratedRules returns the rules that are generated from in.
func GeneratedRules(in rules.Input, o RuleOptions) (RuleFile, error) {
	generated, err := rules.Generate(in)
	if err != nil {
		return RuleFile{}, err
	}
	text, err := generated.PrometheusYAML()
	return RuleFile{Name: "synthetic", Text: text, RuleOptions: o}, err
}

// LoadRuleFiles parses the rule files. Alerts have state, so each run needs rule sets
// of its own.
func LoadRuleFiles(files []RuleFile) ([]*RuleSet, error) {
	var sets []*RuleSet
	for _, f := range files {
		set, err := LoadRules(f.Name, f.Text, f.RuleOptions)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// Lookback returns how much history the rule sets read.
func Lookback(sets []*RuleSet) time.Duration {
	longest := staleAfter
	for _, s := range sets {
		for _, r := range s.rules {
			longest = max(longest, r.lookback)
		}
	}
	return longest
}
