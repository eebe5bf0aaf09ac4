package status

import (
	"net/http"
	"strings"
	"time"
)

// Alerts are the rules that this process evaluates, and where alerts go.
type Alerts struct {
	Rules     []AlertRule     `json:"rules"`
	Receivers []AlertReceiver `json:"alertmanagers"`
	// Stalled is why the rules are not evaluated now; "" if they are.
	Stalled string `json:"stalled,omitempty"`
}

// AlertRule is one alerting rule.
type AlertRule struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	Expr  string `json:"expr"`
	// State is inactive, pending, firing, or unknown before the first
	// evaluation.
	State    string            `json:"state"`
	Severity string            `json:"severity"`
	For      Duration          `json:"for_seconds"`
	Keep     Duration          `json:"keep_firing_for_seconds"`
	Labels   map[string]string `json:"labels"`
	// Err is why the last evaluation failed, Evaluated when it was.
	Err       string    `json:"error,omitempty"`
	Evaluated time.Time `json:"evaluated_at"`
	Alerts    []Alert   `json:"alerts"`
}

// Alert is one that fires, or waits to.
type Alert struct {
	State       string            `json:"state"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Value       string            `json:"value"`
	ActiveAt    time.Time         `json:"active_at"`
	// FiredAt is the zero time while it waits.
	FiredAt time.Time `json:"fired_at,omitzero"`
}

// AlertReceiver is an Alertmanager.
type AlertReceiver struct {
	URL string `json:"url"`
	// Undelivered counts the alerts whose state it does not know yet.
	Undelivered int       `json:"undelivered"`
	LastOK      time.Time `json:"last_success_at,omitzero"`
	// Err is why it did not take the last ones, "" if it did.
	Err string `json:"error,omitempty"`
}

// alertsView is what the template of the alerts gets.
type alertsView struct {
	head
	// On says that this process evaluates rules.
	On bool
	Alerts
	// Incidents are those that this process knows, the worst first.
	Incidents []incident
	// Waiting says what may fire soon.
	Waiting []string
}

func (p *Page) serveAlerts(w http.ResponseWriter, r *http.Request) {
	page := alertsView{head: p.head("incidents and alerts", "")}
	if page.Alerts, page.On = p.alerts(); page.On {
		page.Incidents = p.incidentsNow()
		page.Waiting = page.waiting(page.Now)
	}
	render(w, r, alertsPage, page)
}

// noPager answers those who ask for alerts or incidents where there are none.
const noPager = "this process does not evaluate alert rules, and knows no incidents: there is no section alerting in its configuration"

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

// waiting lists what has not fired yet, and for how long it has waited.
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

// Badge is the state with its colour. A rule that cannot be evaluated is not
// well, whatever it said before.
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

// Link is an address and what it is called.
type Link struct{ Path, Text string }

// webAddress reports whether a text is an address of the web.
func webAddress(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}
