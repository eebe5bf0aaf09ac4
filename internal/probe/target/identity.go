package target

import (
	"cmp"
	"strings"

	"github.com/prometheus/common/version"
)

// ProbeHeader marks a request as a probe. Its value is "target/workload", for the deployment
// and for anything that counts requests.
const ProbeHeader = "X-Synthetic-Probe"

// maxProbeHeader bounds its value in bytes.
const maxProbeHeader = 200

// UserAgent is the User-Agent header of all requests.
func UserAgent() string { return "synthetic/" + cmp.Or(version.Version, "dev") }

// probeHeaderValue replaces characters that are not visible ASCII by underscores.
func probeHeaderValue(target, workload string) string {
	name := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, target+"/"+workload)
	return name[:min(len(name), maxProbeHeader)]
}
