package rules

import (
	"maps"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/slo"
)

// ruleGroup is a group without its defaults.
type ruleGroup struct {
	Name     string
	Interval model.Duration
	Rules    []rule
}

// rule is a recording rule, or an alert without its links.
type rule struct {
	Record, Alert string
	Severity      slo.Severity
	Expr          string
	// For is how long the expression must hold before the alert fires, Keep how long the alert
	// keeps firing afterwards.
	For  model.Duration
	Keep model.Duration `yaml:"keep_firing_for"`
	// Labels are added to those of the expression.
	Labels               map[string]string
	Summary, Description string
	// Windows describes when the alert fires; "" for no description.
	Windows string
	// Dashboard is the UID of the linked dashboard.
	Dashboard string
}

// complete converts rules to those of Prometheus.
func (in Input) complete(rules []rule) []rulefmt.Rule {
	out := make([]rulefmt.Rule, len(rules))
	for i, r := range rules {
		out[i] = rulefmt.Rule{Record: r.Record, Alert: r.Alert, Expr: r.Expr, For: r.For, KeepFiringFor: r.Keep, Labels: r.Labels}
		if r.Alert != "" {
			out[i].Labels = map[string]string{in.Severities.label(): in.Severities.value(r.Severity)}
			maps.Copy(out[i].Labels, r.Labels)
			out[i].Annotations = in.annotations(r)
		}
	}
	return out
}

func (in Input) annotations(r rule) map[string]string {
	out := map[string]string{annotationSummary: r.Summary, annotationDescription: r.Description}
	if in.RunbookURL != "" {
		out[annotationRunbook] = strings.TrimSuffix(in.RunbookURL, "/") + "/" + r.Alert + ".md"
	}
	if r.Windows != "" {
		out[annotationWindows] = r.Windows
	}
	if in.DashboardURL != "" {
		out[annotationDashboard] = in.dashboard(r.Dashboard)
	}
	return out
}

// dashboard links to a dashboard. The detail dashboard opens on the alert's target, and on its
// workload if it has one.
func (in Input) dashboard(uid string) string {
	url := strings.TrimSuffix(in.DashboardURL, "/") + "/" + uid
	if uid == dashboardTarget {
		url += "?var-target={{ $labels.target | urlquery }}{{ with $labels.workload }}&var-workload={{ . | urlquery }}{{ end }}"
	}
	return url
}
