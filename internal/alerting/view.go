package alerting

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// View is what the pager knows at a moment, as plain values. Times are of the
// wall clock.
type View struct {
	Groups        []Group
	Alertmanagers []Receiver
	// Series are stored now, Refused the samples that never were.
	Series  int
	Refused uint64
}

// Group is a rule group with its alerting rules.
type Group struct {
	Name     string
	Interval time.Duration
	// Evaluated is when it was evaluated last, Took how long that took.
	Evaluated time.Time
	Took      time.Duration
	Rules     []Rule
}

// Rule is an alerting rule.
type Rule struct {
	Name, Expr      string
	For, KeepFiring time.Duration
	Labels          map[string]string
	Annotations     map[string]string // with their templates
	State           string            // "inactive", "pending", "firing", or "unknown" before the first evaluation
	Err             string            // why it could not be evaluated; "" if it could
	Alerts          []Alert           // that fire or wait, the oldest first
}

// Alert is one alert that fires or waits to.
type Alert struct {
	State               string
	Labels, Annotations map[string]string
	Value               float64
	// ActiveAt is since when its expression holds, FiredAt since when it fires.
	ActiveAt, FiredAt time.Time
}

// Receiver is an Alertmanager as the pager knows it.
type Receiver struct {
	URL string
	// Undelivered counts the alerts whose state it does not know yet.
	Undelivered int
	// LastOK is when it last took alerts; Err is why it did not the last time,
	// "" if it did.
	LastOK time.Time
	Err    string
	// Sent and Failed count requests, Rejected the alerts that it refused.
	Sent, Failed, Rejected uint64
}

// View returns rules, alerts and the state of deliveries.
func (p *Pager) View() View {
	v := View{Series: int(p.feed.stored.Load()), Refused: p.feed.refused.Load(), Alertmanagers: p.receivers()}
	for _, g := range p.groups() {
		if g.HasAlertingRules() {
			v.Groups = append(v.Groups, p.group(g))
		}
	}
	return v
}

func (p *Pager) receivers() []Receiver {
	var out []Receiver
	for _, l := range p.sendLoops {
		out = append(out, l.receiver())
	}
	return out
}

func (p *Pager) group(g *rules.Group) Group {
	out := Group{
		Name: g.Name(), Interval: g.Interval(),
		Evaluated: p.clock.toWall(g.GetLastEvalTimestamp()), Took: g.GetEvaluationTime(),
	}
	for _, r := range g.AlertingRules() {
		out.Rules = append(out.Rules, p.rule(r))
	}
	return out
}

func (p *Pager) rule(r *rules.AlertingRule) Rule {
	out := Rule{
		Name: r.Name(), Expr: r.Query().String(), For: r.HoldDuration(), KeepFiring: r.KeepFiringFor(),
		Labels: r.Labels().Map(), Annotations: r.Annotations().Map(), State: r.State().String(),
	}
	if err := r.LastError(); err != nil {
		out.Err = err.Error()
	}
	for _, a := range r.ActiveAlerts() {
		out.Alerts = append(out.Alerts, Alert{
			State: a.State.String(), Labels: a.Labels.Map(), Annotations: a.Annotations.Map(), Value: a.Value,
			ActiveAt: p.clock.toWall(a.ActiveAt), FiredAt: p.clock.toWall(a.FiredAt),
		})
	}
	slices.SortFunc(out.Alerts, func(a, b Alert) int {
		return cmp.Or(a.ActiveAt.Compare(b.ActiveAt), strings.Compare(a.Labels["target"], b.Labels["target"]))
	})
	return out
}
