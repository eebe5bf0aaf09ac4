package sidecar

import (
	"log/slog"
	"maps"
	"reflect"
	"slices"

	"synthetic/internal/alerting"
	"synthetic/internal/config"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/status"
)

// RulesOf returns what the rules must know of a configuration that the given number of replicas
// runs. Closed-loop traffic has no rate known in advance.
func RulesOf(cfg *config.Config, replicas int) rules.Input {
	in := rules.Input{SLOs: cfg.SLOs, Answers: cfg.Answers, Replicas: replicas}
	// own holds the labels of targets. A discovered target may have a service.
	own := map[string]bool{}
	for _, g := range cfg.Discovery {
		in.Discovery = in.Discovery || g.Lease == 0
		own["service"] = true
		for _, l := range g.LabelNames() {
			own[l] = true
		}
	}
	for _, j := range cfg.Jobs {
		if j.Target.Service != "" {
			own["service"] = true
		}
		for l := range j.Target.Labels {
			own[l] = true
		}
		perMinute := j.Traffic.Rate * 60
		turns := float64(j.Workload.TurnsMin+j.Workload.TurnsMax) / 2
		in.Jobs = append(in.Jobs, rules.Job{
			Target: j.Target.Name, Workload: j.Workload.Name,
			ConversationsPerMinute: perMinute, TurnsPerMinute: perMinute * turns,
			TurnTimeout: j.Workload.Timeouts.Total, ServerMetrics: j.ServerMetrics,
		})
	}
	in.Scope.Targets = slices.Sorted(maps.Keys(own))
	return in
}

// PagerRules returns the rules of "synthetic generate rules" for this process alone, since it
// does not see the turns of other replicas.
func PagerRules(cfg *config.Config) ([]alerting.RuleFile, error) {
	in := RulesOf(cfg, 1)
	in.RunbookURL, in.DashboardURL = string(cfg.Alerting.RunbookURL), string(cfg.Alerting.DashboardURL)
	generated, err := rules.Generate(in)
	if err != nil {
		return nil, refused("the rules of alerting: %w", err)
	}
	text, err := generated.PrometheusYAML()
	if err != nil {
		return nil, err
	}
	return []alerting.RuleFile{{Name: "synthetic", Data: text}}, nil
}

// pagerChange is a checked change of the pager. Exactly one of its functions is called.
type pagerChange struct {
	commit func() error
	cancel func()
}

// preparePager checks what a configuration changes in the pager. The first configuration
// creates it, later ones replace its rules.
func (s *Sidecar) preparePager(cfg *config.Config) (pagerChange, error) {
	change := pagerChange{commit: func() error { return nil }, cancel: func() {}}
	if s.configured && !sameButLinks(s.alerting, cfg.Alerting) {
		return change, refused("alerting: only runbook_url and dashboard_url can change while the process runs: restart it, or undo the change")
	}
	if cfg.Alerting == nil {
		return change, nil
	}
	files, err := PagerRules(cfg)
	if err != nil {
		return change, err
	}
	if s.pager != nil {
		change.commit = func() error { return s.pager.Reload(files) }
		return change, s.pager.Check(files)
	}
	p, err := alerting.New(s.pagerOptions(cfg, files))
	if err != nil {
		return change, refused("alerting: %w", err)
	}
	change.cancel = func() { _ = p.Close() }
	change.commit = func() error {
		s.pager, s.alerting = p, cfg.Alerting
		return s.registry.Register(newPagerCollector(p.Health))
	}
	return change, nil
}

// sameButLinks reports whether two configurations differ in links only. A reload cannot change
// the rest, because the pager's storage and connections are created once.
func sameButLinks(a, b *config.Alerting) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.RunbookURL, x.DashboardURL, y.RunbookURL, y.DashboardURL = "", "", "", ""
	return reflect.DeepEqual(x, y)
}

// A job has some hundred series. The pager stores seriesPerJob, or leastSeries for a few jobs; what
// is above that, such as a label that never repeats, is left out.
const (
	seriesPerJob = 1000
	leastSeries  = 50_000
)

func (s *Sidecar) pagerOptions(cfg *config.Config, files []alerting.RuleFile) alerting.Options {
	c, jobs := cfg.Alerting, 0
	for _, j := range cfg.Jobs {
		jobs += cfg.UpTo(j.Target.Name)
	}
	o := alerting.Options{
		Gatherer: s.Gatherer(), RuleFiles: files,
		Interval: c.Interval, MaxSeries: max(seriesPerJob*jobs, leastSeries), Dir: c.Directory,
		ExternalLabels: c.ExternalLabels, ExternalURL: string(c.ExternalURL),
		OnChange: s.alertChanged, Dial: s.options.Dial, Logger: s.logger, EngineLogger: Quiet(s.logger),
	}
	for _, a := range c.Alertmanagers {
		o.Alertmanagers = append(o.Alertmanagers, alerting.Alertmanager{URL: string(a.URL), HTTP: a.HTTP})
	}
	return o
}

// alertChanged shows the start or end of an alert on the page, and calls OnAlert.
func (s *Sidecar) alertChanged(c alerting.Transition) {
	s.page.Alert(status.AlertChange{
		Firing: c.Firing, Labels: c.Labels, Annotations: c.Annotations, At: c.At, Lasted: c.Lasted, GoesOnAs: c.GoesOnAs,
	})
	s.options.OnAlert(c)
}

// logAlert returns a function that logs the start and end of alerts.
func logAlert(logger *slog.Logger) func(alerting.Transition) {
	return func(c alerting.Transition) {
		about := []any{"alert", c.Labels["alertname"], "severity", c.Labels["severity"], "summary", c.Annotations["summary"]}
		if c.Firing {
			logger.Warn("An alert fires", append(about, "value", c.Value)...)
			return
		}
		if c.GoesOnAs != "" {
			logger.Info("An alert has given way to another: its incident goes on", append(about, "goes_on_as", c.GoesOnAs, "lasted", c.Lasted)...)
			return
		}
		logger.Info("An alert is over", append(about, "lasted", c.Lasted)...)
	}
}
