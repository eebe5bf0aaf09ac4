package main

import (
	"context"
	"log/slog"
	"reflect"
	"strings"

	oklog "github.com/oklog/run"

	"synthetic/internal/alerting"
	"synthetic/internal/config"
	"synthetic/internal/rules"
)

// pager is the embedded pager with the configuration that it was made from.
type pager struct {
	*alerting.Pager
	config *config.Alerting
}

// pagerRules are the rules that "synthetic generate rules" writes, for this
// process alone: it sees no other replica's turns.
func pagerRules(cfg *config.Config) ([]alerting.RuleFile, error) {
	in := rules.Input{SLOs: cfg.SLOs, RunbookURL: cfg.Alerting.RunbookURL, DashboardURL: cfg.Alerting.DashboardURL}
	for _, j := range cfg.Jobs {
		in.Jobs = append(in.Jobs, ruleJob(j, 1))
	}
	generated, err := rules.Generate(in)
	if err != nil {
		return nil, usagef("the rules of alerting: %w", err)
	}
	text, err := generated.PrometheusYAML()
	if err != nil {
		return nil, err
	}
	return []alerting.RuleFile{{Name: "synthetic", Data: text}}, nil
}

// pageFor brings the pager in line with a configuration: the first one makes it,
// a later one replaces its rules. It returns what to do once the rest of the
// configuration is in force.
func (s *sidecar) pageFor(cfg *config.Config) (commit func() error, err error) {
	if err := s.samePager(cfg.Alerting); err != nil {
		return nil, err
	}
	if cfg.Alerting == nil {
		return func() error { return nil }, nil
	}
	files, err := pagerRules(cfg)
	if err != nil {
		return nil, err
	}
	if s.pager != nil {
		return func() error { return s.pager.Reload(files) }, nil
	}
	return func() error {
		p, err := alerting.New(s.pagerOptions(cfg.Alerting, files))
		if err != nil {
			return usagef("alerting: %w", err)
		}
		s.pager = &pager{p, cfg.Alerting}
		return s.registry.Register(newPagerCollector(p.Health))
	}, nil
}

// samePager refuses what a reload cannot change: the pager's storage and its
// connections are made once.
func (s *sidecar) samePager(c *config.Alerting) error {
	if !s.configured {
		return nil
	}
	var running *config.Alerting
	if s.pager != nil {
		running = s.pager.config
	}
	if !sameButLinks(running, c) {
		return usagef("alerting: only runbook_url and dashboard_url can change while the process runs: restart it, or undo the change")
	}
	return nil
}

// sameButLinks compares what is not part of the rules.
func sameButLinks(a, b *config.Alerting) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.RunbookURL, x.DashboardURL, y.RunbookURL, y.DashboardURL = "", "", "", ""
	return reflect.DeepEqual(x, y)
}

func (s *sidecar) pagerOptions(c *config.Alerting, files []alerting.RuleFile) alerting.Options {
	o := alerting.Options{
		Gatherer: s.recorder, RuleFiles: files,
		Interval: c.Interval, Retention: c.Retention, MaxSeries: c.MaxSeries, Dir: c.Directory,
		ExternalLabels: c.ExternalLabels, ExternalURL: c.ExternalURL,
		OnChange: s.onAlert, Dial: s.options.dial, Logger: s.logger, EngineLogger: quiet(s.logger),
	}
	for _, a := range c.Alertmanagers {
		o.Alertmanagers = append(o.Alertmanagers, alerting.Alertmanager{
			URL: a.URL, Timeout: a.Timeout,
			Username: a.Username, PasswordFile: a.PasswordFile, BearerTokenFile: a.BearerTokenFile,
			TLS: alerting.TLS{
				CAFile: a.TLS.CAFile, CertFile: a.TLS.CertFile, KeyFile: a.TLS.KeyFile,
				ServerName: a.TLS.ServerName, InsecureSkipVerify: a.TLS.InsecureSkipVerify,
			},
		})
	}
	return o
}

// addPager runs the pager, if there is one. It ends after the last turns, so
// that it sees them.
func (s *sidecar) addPager(g *oklog.Group, drained <-chan struct{}) {
	if s.pager == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.Add(func() error { return s.pager.Run(ctx) }, func(error) {
		<-drained
		cancel()
	})
}

// closePager closes the storage of a pager that never ran; it does nothing to
// one that did.
func (s *sidecar) closePager() {
	if s.pager != nil {
		_ = s.pager.Close() // its error came from Run, if it ran
	}
}

// logAlert writes an alert's beginning and end to the log.
func logAlert(logger *slog.Logger) func(alerting.Change) {
	return func(c alerting.Change) {
		about := []any{"alert", c.Labels["alertname"], "severity", c.Labels["severity"], "summary", c.Annotations["summary"]}
		if c.Firing {
			logger.Warn("An alert fires", append(about, "value", c.Value)...)
			return
		}
		logger.Info("An alert is over", append(about, "lasted", c.Lasted)...)
	}
}

// alertLine is one alert in a terminal.
func alertLine(c alerting.Change) string {
	what := "RESOLVED"
	if c.Firing {
		what = "FIRING"
	}
	words := []string{what, strings.ToUpper(c.Labels["severity"]), c.Labels["alertname"], "–", c.Annotations["summary"]}
	return strings.Join(words, " ")
}
