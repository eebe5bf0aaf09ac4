package rules

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/slo"
)

// alert is an alerting rule before its links are filled in.
type alert struct {
	name     string
	severity slo.Severity
	expr     string
	// wait is how long the expression must hold before the alert fires, keep
	// how long it fires on after the expression stopped to hold.
	wait, keep time.Duration
	// labels are put on the alert beside those of the expression.
	labels               map[string]string
	summary, description string
	// turns are the labels by which the alert's description names a bad turn;
	// none where the alert is not about turns.
	turns []string
	// windows says in words when the alert fires; "" for none.
	windows string
	// dashboard is the UID of the dashboard to look at.
	dashboard string
}

// rule completes an alert.
func (in Input) rule(a alert) rulefmt.Rule {
	labels := map[string]string{labelSeverity: string(a.severity)}
	maps.Copy(labels, a.labels)
	annotations := map[string]string{
		annotationSummary:     a.summary,
		annotationDescription: a.description,
		annotationRunbook:     in.runbook(a.name),
	}
	if len(a.turns) > 0 {
		annotations[annotationDescription] += " " + badTurnText(a.turns)
	}
	if a.windows != "" {
		annotations[annotationWindows] = a.windows
	}
	if in.DashboardURL != "" {
		annotations[annotationDashboard] = in.dashboard(a.dashboard)
	}
	return rulefmt.Rule{
		Alert: a.name, Expr: a.expr,
		For: model.Duration(a.wait), KeepFiringFor: model.Duration(a.keep),
		Labels: labels, Annotations: annotations,
	}
}

// rules completes alerts.
func (in Input) rules(alerts ...alert) []rulefmt.Rule {
	rules := make([]rulefmt.Rule, len(alerts))
	for i, a := range alerts {
		rules[i] = in.rule(a)
	}
	return rules
}

func (in Input) runbook(alert string) string {
	return strings.TrimSuffix(cmp.Or(in.RunbookURL, "docs/runbooks"), "/") + "/" + alert + ".md"
}

// dashboard links to a dashboard; the target's detail opens on the target of the
// alert, and on its workload if it has one.
func (in Input) dashboard(uid string) string {
	url := strings.TrimSuffix(in.DashboardURL, "/") + "/" + uid
	if uid == dashboardTarget {
		url += "?var-target={{ $labels.target | urlquery }}{{ with $labels.workload }}&var-workload={{ . | urlquery }}{{ end }}"
	}
	return url
}
