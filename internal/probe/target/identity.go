package target

import (
	"cmp"
	"strings"

	"github.com/prometheus/common/version"
)

// ProbeHeader tells a deployment, and whatever counts its requests, that one is a
// probe, and of which job: "target/workload".
const ProbeHeader = "X-Synthetic-Probe"

// mostProbe bounds its value in bytes.
const mostProbe = 200

// UserAgent is how this binary calls itself to others.
func UserAgent() string { return "synthetic/" + cmp.Or(version.Version, "dev") }

// probeOf is the value of ProbeHeader: what is no visible ASCII is an underscore.
func probeOf(target, workload string) string {
	name := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, target+"/"+workload)
	return name[:min(len(name), mostProbe)]
}
