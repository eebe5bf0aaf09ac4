package target

import (
	"slices"
	"strings"
)

// IsReservedLabel reports whether synthetic or Prometheus sets the label, so that a target
// cannot have it.
func IsReservedLabel(label string) bool {
	return strings.HasPrefix(label, "__") || slices.Contains([]string{
		"alertname", "alertstate", "bound", "branch", "budget_window", "cause", "connection", "dashboard", "goarch", "goos", "goversion", "group",
		"instance", "job", "le", "level", "model", "part", "phase", "quantile", "ratio", "reason", "revision",
		"run", "scope", "service", "severity", "signal", "sli", "slo", "source", "statistic", "tags", "target",
		"trace_id", "turn", "turns", "url", "variant", "verdict", "version", "window", "within", "worker", "workload",
	}, label)
}
