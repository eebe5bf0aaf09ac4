package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"synthetic/internal/alerting"
	"synthetic/internal/rules"
)

// Alerts are the rules of this process and the receivers of its alerts.
type Alerts struct {
	Rules     []AlertRule         `json:"rules"`
	Receivers []alerting.Receiver `json:"alertmanagers"`
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

// To names the Alertmanagers that get the alerts, "" without any.
func (a Alerts) To() string {
	urls := make([]string, len(a.Receivers))
	for i, r := range a.Receivers {
		urls[i] = r.URL
	}
	return strings.Join(urls, ", ")
}

// openAlert is a firing alert on the page.
type openAlert struct {
	Rule, SLO, Target, Workload string
	State                       state
	Summary, Dashboard          string
	// Since is when the fault began; Told is true if the summary has it. Cause its cause in a few words, "" if it is unknown.
	Since time.Time
	Told  bool
	Cause string
	// Step is what to do first, "" for an alert of others.
	Step string
}

// Name returns the alert with its objective.
func (a openAlert) Name() string { return strings.TrimSpace(a.Rule + " " + a.SLO) }

// What is the state with its cause in a few words.
func (a openAlert) What() state {
	what := cmp.Or(a.Cause, a.Rule)
	if a.Cause == "" && a.SLO != "" {
		what = "misses " + a.SLO
	}
	return state{a.State.Class, a.State.Text + ": " + what}
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
				Rule: r.Name, SLO: alert.Labels["slo"], Target: alert.Labels["target"], Workload: alert.Labels["workload"],
				State: state{"warn", "ticket"}, Summary: alert.Annotations["summary"], Since: alert.ActiveAt,
				Cause: rules.Causes()[alert.Annotations[rules.AnnotationCause]].Text, Step: rules.StepOf(r.Name, alert.Annotations[rules.AnnotationCause]),
			}
			if began, err := time.Parse(time.RFC3339, alert.Annotations[rules.AnnotationSince]); err == nil {
				o.Since, o.Told = began, true
			}
			if r.Severity == "page" {
				o.State = state{"bad", "paging"}
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
