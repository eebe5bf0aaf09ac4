package config

import (
	"regexp"

	"synthetic/internal/config/yamlform"
)

// planKeys and configurationKeys are keys at the top of one kind of file that the other kind has not.
var (
	planKeys          = regexp.MustCompile(`(?m)^(variants|levels|measure|warm_up)\s*:`)
	configurationKeys = regexp.MustCompile(`(?m)^(targets|traffic|workloads|discovery|alerting)\s*:`)
)

// IsPlan reports whether a text is the plan of a sweep and no configuration.
func IsPlan(text []byte) bool { return planKeys.Match(text) && !configurationKeys.Match(text) }

// otherKind returns an error for a file of the other kind, whose keys would all be unknown.
func otherKind(path string, text []byte, wantPlan bool) error {
	m := yamlform.Mistake{Message: "is a plan of a sweep, not a configuration", Remedy: "run it with synthetic sweep --plan.file=" + path}
	if wantPlan {
		m = yamlform.Mistake{Message: "is a configuration, not a plan of a sweep", Remedy: "run it with synthetic run --config.file=" + path}
	}
	if isConfiguration := configurationKeys.Match(text) && !planKeys.Match(text); wantPlan && isConfiguration || !wantPlan && IsPlan(text) {
		return yamlform.Errors{{File: path, Mistake: m}}
	}
	return nil
}
