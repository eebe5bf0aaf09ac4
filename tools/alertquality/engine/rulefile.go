package engine

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// RuleFile is a rule file to score.
type RuleFile struct {
	// Name identifies the rules in reports.
	Name string
	Text []byte
	RuleOptions
}

//go:embed compare/p95-last-week.yml
var p95Rules []byte

//go:embed compare/sloth.yml
var slothRules []byte

// RuleFiles returns the rule files to score. It generates rules from in, unless in is nil, and reads
// the files that args name, as PATH or NAME=PATH. With compare, it adds rules over the same metrics: an
// alert on the p95 against last week's, and the rules that sloth generates for Objectives.
func RuleFiles(in *rules.Input, args []string, compare bool, o RuleOptions) ([]RuleFile, error) {
	var files []RuleFile
	if in != nil {
		generated, err := rules.Generate(*in)
		if err != nil {
			return nil, err
		}
		text, err := generated.PrometheusYAML()
		if err != nil {
			return nil, err
		}
		files = append(files, RuleFile{"synthetic", text, o})
	}
	for _, arg := range args {
		name, path, named := strings.Cut(arg, "=")
		if !named {
			name, path = filepath.Base(arg), arg
		}
		text, err := os.ReadFile(path)
		file := RuleFile{name, text, o}
		if err == nil {
			_, err = loadRules(file)
		}
		if err != nil {
			return nil, fmt.Errorf("--rules.file=%s: %w", arg, err)
		}
		files = append(files, file)
	}
	if compare {
		files = append(files, RuleFile{"p95-last-week", p95Rules, o}, RuleFile{"sloth", slothRules, o})
	}
	return files, nil
}

// Objectives returns the SLOs that are used without a configuration.
func Objectives() []slo.Objective {
	const month = 30 * 24 * time.Hour
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: month},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: month},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: month},
	}
}

// LoadRuleFiles parses the rule files. Alerts have state, so each run needs rule sets
// of its own.
func LoadRuleFiles(files []RuleFile) ([]*RuleSet, error) {
	var sets []*RuleSet
	for _, f := range files {
		set, err := loadRules(f)
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
