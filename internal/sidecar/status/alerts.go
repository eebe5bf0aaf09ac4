package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"synthetic/docs/runbooks"
	"synthetic/internal/probe"
)

// Alerts are the rules of this process and the receivers of its alerts.
type Alerts struct {
	Rules     []AlertRule     `json:"rules"`
	Receivers []AlertReceiver `json:"alertmanagers"`
	// Stalled is the reason why rules are not evaluated now; "" if they are.
	Stalled string `json:"stalled,omitempty"`
}

type AlertRule struct {
	Name string `json:"name"`
	// inactive, pending, firing, or unknown before the first evaluation
	State    string `json:"state"`
	Severity string `json:"severity"`
	// Err is the error of the last evaluation.
	Err    string  `json:"error,omitempty"`
	Alerts []Alert `json:"alerts"`
}

type Alert struct {
	State       string            `json:"state"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Value       string            `json:"value"`
	ActiveAt    time.Time         `json:"active_at"`
}

type AlertReceiver struct {
	URL string `json:"url"`
	// number of alerts whose state it has not received yet
	Undelivered int       `json:"undelivered"`
	LastOK      time.Time `json:"last_success_at,omitzero"`
	// Err is why it rejected the last alerts, "" if it accepted them.
	Err string `json:"error,omitempty"`
}

// openAlert is a firing alert on the page.
type openAlert struct {
	Name, Target, Workload string
	State                  state
	Summary, Dashboard     string
	Since                  time.Time
	// Step is the first step of its runbook, "" without one.
	Step string
}

// About names the subject of the alert.
func (a openAlert) About() string {
	return cmp.Or(strings.TrimSpace(a.Target+" "+a.Workload), "all targets, or the prober")
}

// open returns the firing alerts, pages first, then the oldest first.
func (a Alerts) open() (out []openAlert) {
	for _, r := range a.Rules {
		for _, alert := range r.Alerts {
			if alert.State != "firing" {
				continue
			}
			o := openAlert{
				Name: strings.TrimSpace(r.Name + " " + alert.Labels["slo"]), Target: alert.Labels["target"], Workload: alert.Labels["workload"],
				Summary: alert.Annotations["summary"], Since: alert.ActiveAt, Step: runbooks.FirstStep(r.Name), State: state{"warn", r.Severity},
			}
			if r.Severity == "page" {
				o.State.Class = "bad"
			}
			if link := alert.Annotations["dashboard_url"]; strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
				o.Dashboard = link
			}
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b openAlert) int {
		return cmp.Or(a.State.rank()-b.State.rank(), a.Since.Compare(b.Since))
	})
	return out
}

// begins returns the start of the fault that an alert is about: of the target's failures, else of its regression, else
// of the alert. Dashboards show the same.
func (p *Page) begins(a openAlert, now time.Time) time.Time {
	if !slices.Contains([]string{"SyntheticTargetDown", "SyntheticRegression", "SyntheticSLOFastBurn", "SyntheticSLOSlowBurn"}, a.Rule()) {
		return a.Since
	}
	reading, _ := p.options.Baseline(probe.Key{Target: a.Target, Workload: a.Workload})
	if reading.Failures > 2 && reading.Failing > 0 {
		return now.Add(-reading.Failing)
	}
	var began time.Time
	for _, v := range reading.Signals {
		if began.IsZero() || !v.Since.IsZero() && v.Since.Before(began) {
			began = v.Since
		}
	}
	if began.IsZero() {
		return a.Since
	}
	return began
}

// Rule returns the name of the alert's rule.
func (a openAlert) Rule() string {
	rule, _, _ := strings.Cut(a.Name, " ")
	return rule
}

// troubles describes what keeps the pager from alerting: rules that cannot be evaluated, and Alertmanagers that do not
// accept alerts.
func (a Alerts) troubles() (out []string) {
	if a.Stalled != "" {
		out = append(out, "the pager has stopped: "+a.Stalled)
	}
	for _, r := range a.Rules {
		if r.Err != "" {
			out = append(out, "the rule "+r.Name+" cannot be evaluated: "+r.Err)
		}
	}
	for _, r := range a.Receivers {
		if r.Err != "" {
			out = append(out, "the Alertmanager "+r.URL+" does not accept alerts: "+r.Err)
		}
	}
	return out
}
