package sidecar

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	promrules "github.com/prometheus/prometheus/rules"

	"synthetic/internal/sidecar/status"
)

// alerts returns what the page shows of the pager, and false without a pager.
func (s *Sidecar) alerts() (status.Alerts, bool) {
	if s.pager == nil {
		return status.Alerts{}, false
	}
	out := status.Alerts{Rules: []status.AlertRule{}, Receivers: []status.AlertReceiver{}}
	for _, g := range s.pager.Groups() {
		for _, r := range g.AlertingRules() {
			shown := s.alertRule(r)
			shown.Group, shown.Evaluated = g.Name(), s.pager.WallTime(g.GetLastEvalTimestamp())
			out.Rules = append(out.Rules, shown)
		}
	}
	health := s.pager.Health()
	if health.Stalled != nil {
		out.Stalled = health.Stalled.Error()
	}
	for _, r := range health.Alertmanagers {
		out.Receivers = append(out.Receivers, status.AlertReceiver{URL: r.URL, Undelivered: r.Undelivered, LastOK: r.LastOK, Err: r.Err})
	}
	return out, true
}

// alertRule returns a rule with its alerts, oldest first.
func (s *Sidecar) alertRule(r *promrules.AlertingRule) status.AlertRule {
	known := func(d time.Duration) status.Duration { return status.Duration{V: d, OK: true} }
	out := status.AlertRule{
		Name: r.Name(), Expr: r.Query().String(), State: r.State().String(), Severity: r.Labels().Get("severity"),
		For: known(r.HoldDuration()), Keep: known(r.KeepFiringFor()), Labels: r.Labels().Map(), Alerts: []status.Alert{},
	}
	if err := r.LastError(); err != nil {
		out.Err = err.Error()
	}
	for _, a := range r.ActiveAlerts() {
		out.Alerts = append(out.Alerts, status.Alert{
			State: a.State.String(), Labels: a.Labels.Map(), Annotations: a.Annotations.Map(),
			Value:    strconv.FormatFloat(a.Value, 'g', 4, 64),
			ActiveAt: s.pager.WallTime(a.ActiveAt), FiredAt: s.pager.WallTime(a.FiredAt),
		})
	}
	slices.SortFunc(out.Alerts, func(a, b status.Alert) int {
		return cmp.Or(a.ActiveAt.Compare(b.ActiveAt), strings.Compare(a.Labels["target"], b.Labels["target"]))
	})
	return out
}
