package config

import (
	"regexp"
	"strings"
)

// planAddress is an address, or a simulated deployment named by presetScheme.
type planAddress string

// presetScheme begins the name of a simulated deployment; presetHost ends the
// host that stands for one, in a domain that no resolver knows.
const (
	presetScheme = "preset:"
	presetHost   = ".preset.invalid"
)

// presetName matches the names that presets can have.
var presetName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (a *planAddress) parse(tag, text string) *mistake {
	if name, ok := strings.CutPrefix(text, presetScheme); ok {
		if !presetName.MatchString(name) {
			return &mistake{shown(text), "is not the name of a preset", "write for example " + presetScheme + "phase0"}
		}
		*a = planAddress(text)
		return nil
	}
	return (*address)(a).parse(tag, text)
}

func (*planAddress) schema() map[string]any {
	s := (*address)(nil).schema()
	return map[string]any{"type": "string", "pattern": `^preset:[a-z0-9-]+$|` + s["pattern"].(string)}
}

func (*planAddress) kind() string { return "URL or preset" }

// preset is the name of the simulated deployment, "" for a real one.
func (a planAddress) preset() string {
	name, ok := strings.CutPrefix(string(a), presetScheme)
	if !ok {
		return ""
	}
	return name
}

// address is where requests go.
func (a planAddress) address() address {
	if name := a.preset(); name != "" {
		return address("http://" + name + presetHost + "/v1")
	}
	return address(a)
}
