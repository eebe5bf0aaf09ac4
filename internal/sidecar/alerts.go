package sidecar

import (
	"strconv"
	"time"

	"synthetic/internal/alerting"
	"synthetic/internal/sidecar/status"
)

// alerts is what the page of alerts shows.
func (s *Sidecar) alerts() (status.Alerts, bool) {
	if s.pager == nil {
		return status.Alerts{}, false
	}
	v := s.pager.View()
	out := status.Alerts{Rules: []status.AlertRule{}, Receivers: []status.AlertReceiver{}}
	for _, g := range v.Groups {
		for _, r := range g.Rules {
			out.Rules = append(out.Rules, shownRule(g, r))
		}
	}
	for _, r := range v.Alertmanagers {
		out.Receivers = append(out.Receivers, status.AlertReceiver{URL: r.URL, Undelivered: r.Undelivered, LastOK: r.LastOK, Err: r.Err})
	}
	return out, true
}

func shownRule(g alerting.Group, r alerting.Rule) status.AlertRule {
	shown := func(d time.Duration) status.Duration { return status.Duration{V: d, OK: true} }
	out := status.AlertRule{
		Group: g.Name, Name: r.Name, Expr: r.Expr, State: r.State, Severity: r.Labels["severity"],
		For: shown(r.For), Keep: shown(r.KeepFiring), Labels: r.Labels,
		Err: r.Err, Evaluated: g.Evaluated, Alerts: []status.Alert{},
	}
	for _, a := range r.Alerts {
		out.Alerts = append(out.Alerts, status.Alert{
			State: a.State, Labels: a.Labels, Annotations: a.Annotations,
			Value: strconv.FormatFloat(a.Value, 'g', 4, 64), ActiveAt: a.ActiveAt, FiredAt: a.FiredAt,
		})
	}
	return out
}
