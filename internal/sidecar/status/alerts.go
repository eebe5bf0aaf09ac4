package status

import (
	"net/http"
	"strings"
	"time"
)

// Alerts are the rules of this process and the receivers of its alerts.
type Alerts struct {
	Rules     []AlertRule     `json:"rules"`
	Receivers []AlertReceiver `json:"alertmanagers"`
	// Stalled is the reason why rules are not evaluated now; "" if they are.
	Stalled string `json:"stalled,omitempty"`
}

type AlertRule struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	Expr  string `json:"expr"`
	// inactive, pending, firing, or unknown before the first evaluation
	State    string            `json:"state"`
	Severity string            `json:"severity"`
	For      Duration          `json:"for_seconds"`
	Keep     Duration          `json:"keep_firing_for_seconds"`
	Labels   map[string]string `json:"labels"`
	// Err is the error of the last evaluation, Evaluated its time.
	Err       string    `json:"error,omitempty"`
	Evaluated time.Time `json:"evaluated_at"`
	Alerts    []Alert   `json:"alerts"`
}

type Alert struct {
	State       string            `json:"state"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Value       string            `json:"value"`
	ActiveAt    time.Time         `json:"active_at"`
	// zero while pending
	FiredAt time.Time `json:"fired_at,omitzero"`
}

type AlertReceiver struct {
	URL string `json:"url"`
	// number of alerts whose state it has not received yet
	Undelivered int       `json:"undelivered"`
	LastOK      time.Time `json:"last_success_at,omitzero"`
	// Err is why it rejected the last alerts, "" if it accepted them.
	Err string `json:"error,omitempty"`
}

type alertsView struct {
	head
	On bool
	Alerts
	// incidents in memory, the worst first
	Incidents []incident
	Waiting   []string
}

func (p *Page) serveAlerts(w http.ResponseWriter, r *http.Request) {
	page := alertsView{head: p.head("incidents and alerts", "")}
	if page.Alerts, page.On = p.alerts(); page.On {
		page.Incidents = p.incidentsNow()
		page.Waiting = page.waiting(page.Now)
	}
	render(w, r, alertsPage, page)
}

// noPager is the answer about alerts and incidents without a pager.
const noPager = "this process does not evaluate alert rules and knows no incidents, because its configuration has no section alerting"

func (p *Page) serveAlertsJSON(w http.ResponseWriter, _ *http.Request) {
	alerts, on := p.alerts()
	if !on {
		http.Error(w, noPager, http.StatusNotFound)
		return
	}
	answerJSON(w, "alerts", alerts)
}

func (p *Page) alerts() (Alerts, bool) {
	if p.options.Alerts == nil {
		return Alerts{}, false
	}
	return p.options.Alerts()
}

// waiting describes the pending alerts.
func (a Alerts) waiting(now time.Time) (out []string) {
	for _, r := range a.Rules {
		for _, alert := range r.Alerts {
			if alert.State == "pending" {
				out = append(out, strings.TrimSpace(r.Name+" "+subjectOf(alert.Labels).String())+": "+short(now.Sub(alert.ActiveAt))+" of "+r.For.String())
			}
		}
	}
	return out
}

// Badge returns the state with its colour. A rule that cannot be evaluated is bad, even if it
// was good before.
func (r AlertRule) Badge() state {
	if r.Err != "" && len(r.Alerts) == 0 {
		return state{"warn", "evaluation failed"}
	}
	return badge(r.State, r.Severity)
}

func badge(s, severity string) state {
	switch {
	case s == "firing" && severity == "page":
		return state{"bad", s}
	case s == "firing" || s == "pending":
		return state{"warn", s}
	case s == "inactive":
		return state{"good", s}
	}
	return state{"unknown", "not yet evaluated"}
}

type link struct{ Path, Text string }
