package status

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
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
	Active []activeAlert
}

// activeAlert is an alert with its rule.
type activeAlert struct {
	Alert
	Rule AlertRule
	now  time.Time
}

func (p *Page) serveAlerts(w http.ResponseWriter, _ *http.Request) {
	page := alertsView{head: p.head("Alerts")}
	if page.Alerts, page.On = p.alerts(); page.On {
		page.Active = page.active(page.Now)
	}
	render(w, alertsPage, page)
}

func (p *Page) serveAlertsJSON(w http.ResponseWriter, _ *http.Request) {
	alerts, on := p.alerts()
	if !on {
		http.Error(w, "this process does not evaluate alert rules: there is no section alerting in its configuration", http.StatusNotFound)
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

// active lists what fires and then what waits, the oldest first.
func (a Alerts) active(now time.Time) []activeAlert {
	var out []activeAlert
	for _, r := range a.Rules {
		for _, alert := range r.Alerts {
			out = append(out, activeAlert{alert, r, now})
		}
	}
	slices.SortStableFunc(out, func(a, b activeAlert) int {
		return cmp.Or(strings.Compare(a.State, b.State), a.ActiveAt.Compare(b.ActiveAt)) // firing before pending
	})
	return out
}

// firing names the alerts that fire, each once, pages before tickets.
func (a Alerts) firing() []string {
	var pages, tickets []string
	for _, r := range a.Rules {
		switch {
		case r.State != "firing" || slices.Contains(pages, r.Name) || slices.Contains(tickets, r.Name):
		case r.Severity == "page":
			pages = append(pages, r.Name)
		default:
			tickets = append(tickets, r.Name)
		}
	}
	return append(pages, tickets...)
}

// Badge is the state with its colour. A rule that cannot be evaluated is not
// well, whatever it said before.
func (r AlertRule) Badge() state {
	if r.Err != "" && len(r.Alerts) == 0 {
		return state{"warn", "evaluation failed"}
	}
	return badge(r.State, r.Severity)
}

// Badge is the state with its colour.
func (a activeAlert) Badge() state { return badge(a.State, a.Rule.Severity) }

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

// Since is how long the alert fires, or waits.
func (a activeAlert) Since() string {
	if a.FiredAt.IsZero() {
		return "waiting for " + short(a.now.Sub(a.ActiveAt)) + " of " + a.Rule.For.String()
	}
	return "firing for " + short(a.now.Sub(a.FiredAt))
}

// Links are the annotations that lead somewhere.
func (a activeAlert) Links() []Link { return a.addresses(true) }

// Files are those that would, had an address been configured: paths within the
// repository. They are shown as text.
func (a activeAlert) Files() []Link { return a.addresses(false) }

// Link is an address and what it is called.
type Link struct{ Path, Text string }

// addresses lists the annotations that end in _url, those of the web or the
// others.
func (a activeAlert) addresses(web bool) []Link {
	var out []Link
	for _, name := range slices.Sorted(maps.Keys(a.Annotations)) {
		text, isURL := strings.CutSuffix(name, "_url")
		v := a.Annotations[name]
		if isURL && web == (strings.HasPrefix(v, "https://") || strings.HasPrefix(v, "http://")) {
			out = append(out, Link{v, text})
		}
	}
	return out
}

// About is what the labels say beside name and severity.
func (a activeAlert) About() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		if name != "alertname" && name != "severity" {
			parts = append(parts, name+"="+a.Labels[name])
		}
	}
	return strings.Join(parts, ", ")
}
