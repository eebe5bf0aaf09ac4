package sidecar

import (
	"cmp"
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	promrules "github.com/prometheus/prometheus/rules"

	"synthetic/internal/alerting"
	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/status"
)

// PagerRules returns the rules of "synthetic generate rules" for this process alone, since it
// does not see the turns of other replicas.
func PagerRules(cfg *config.Config) ([]byte, error) {
	in := RulesOf(cfg.ForRules())
	in.RunbookURL, in.DashboardURL = string(cfg.Alerting.RunbookURL), string(cfg.Alerting.DashboardURL)
	generated, err := rules.Generate(in)
	if err != nil {
		return nil, refused("the rules of alerting: %w", err)
	}
	return generated.PrometheusYAML()
}

// paging is the embedded pager, if there is one: only the first configuration decides that.
type paging struct {
	options         alerting.Options // without what a configuration says
	registry        *prometheus.Registry
	*alerting.Pager                  // nil without alerting
	first           *config.Alerting // of the first configuration
	externalHost    string           // of alerting.external_url; "" without one
}

// prepare checks what a configuration changes in the pager. The first configuration creates
// the pager, later ones replace its rules.
func (p *paging) prepare(c *change, cfg *config.Config, first bool) error {
	if !first && !canFollow(p.first, cfg.Alerting) {
		return refused("alerting: while the process runs, only runbook_url and dashboard_url can change: restart it, or undo the change")
	}
	if cfg.Alerting == nil {
		return nil
	}
	text, err := PagerRules(cfg)
	if err != nil {
		return err
	}
	if p.Pager != nil {
		reload, err := p.Prepare(text)
		c.commits = append(c.commits, reload)
		return err
	}
	pager, err := alerting.New(p.optionsOf(cfg.Alerting, text))
	if err != nil {
		return refused("alerting: %w", err)
	}
	c.rollbacks = append(c.rollbacks, func() { _ = pager.Close() })
	c.commits = append(c.commits, func() {
		p.Pager, p.first = pager, cfg.Alerting
		if u, err := url.Parse(string(cfg.Alerting.ExternalURL)); err == nil {
			p.externalHost = strings.ToLower(u.Hostname())
		}
		p.registry.MustRegister(newPagerCollector(pager.Health))
		a, _ := p.alerts()
		p.options.Logger.Info("Paging is on", "rules", len(a.Rules), "alerts_go_to", cmp.Or(a.To(), "the status page and the log only"))
	})
	return nil
}

// canFollow reports whether a reload can put b into force after a. The pager's storage, its connections
// to Alertmanagers and its queues are created once.
func canFollow(a, b *config.Alerting) bool {
	if a == nil || b == nil {
		return a == b
	}
	fixed := *a
	fixed.RunbookURL, fixed.DashboardURL = b.RunbookURL, b.DashboardURL
	return reflect.DeepEqual(fixed, *b)
}

func (p *paging) optionsOf(c *config.Alerting, text []byte) alerting.Options {
	o := p.options
	o.Rules, o.Interval, o.Dir = text, c.Interval, c.Directory
	o.ExternalLabels, o.ExternalURL = c.ExternalLabels, string(c.ExternalURL)
	for _, a := range c.Alertmanagers {
		o.Alertmanagers = append(o.Alertmanagers, alerting.Alertmanager{URL: string(a.URL), HTTP: a.HTTP})
	}
	return o
}

func (s *Sidecar) alertChanged(t alerting.Transition) {
	if !t.Firing && t.Labels["severity"] == "page" {
		s.page.PageEnded(probe.Key{Target: t.Labels[metrics.LabelTarget], Workload: t.Labels[metrics.LabelWorkload]})
	}
	s.options.OnAlert(t)
}

func logAlert(logger *slog.Logger) func(alerting.Transition) {
	return func(c alerting.Transition) {
		logger := logger.With("alert", c.Labels["alertname"], "severity", c.Labels["severity"], "summary", c.Annotations["summary"])
		if c.Firing {
			logger.Warn("An alert fires", "value", c.Value)
		} else {
			logger.Info("An alert ended", "lasted", c.Lasted)
		}
	}
}

// alerts returns what the page shows of the pager, and false without a pager.
func (p *paging) alerts() (status.Alerts, bool) {
	if p.Pager == nil {
		return status.Alerts{}, false
	}
	health := p.Health()
	out := status.Alerts{Rules: []status.AlertRule{}, Receivers: append([]alerting.Receiver{}, health.Alertmanagers...)}
	for _, g := range p.Groups() {
		for _, r := range g.AlertingRules() {
			out.Rules = append(out.Rules, p.alertRule(r))
		}
	}
	if health.Stalled != nil {
		out.Stalled = health.Stalled.Error()
	}
	return out, true
}

// alertRule returns a rule with its alerts, oldest first.
func (p *paging) alertRule(r *promrules.AlertingRule) status.AlertRule {
	out := status.AlertRule{
		Name: r.Name(), State: r.State().String(), Severity: r.Labels().Get("severity"), Alerts: []status.Alert{},
	}
	if err := r.LastError(); err != nil {
		out.Err = err.Error()
	}
	for _, a := range r.ActiveAlerts() {
		out.Alerts = append(out.Alerts, status.Alert{
			State: a.State.String(), Labels: a.Labels.Map(), Annotations: a.Annotations.Map(),
			Value:    strconv.FormatFloat(a.Value, 'g', 4, 64),
			ActiveAt: p.WallTime(a.ActiveAt),
		})
	}
	slices.SortFunc(out.Alerts, func(a, b status.Alert) int {
		return cmp.Or(a.ActiveAt.Compare(b.ActiveAt), strings.Compare(a.Labels["target"], b.Labels["target"]))
	})
	return out
}

// newPagerCollector returns a collector of the health of the pager.
func newPagerCollector(health func() alerting.Health) prometheus.CollectorFunc {
	descs := map[string]*prometheus.Desc{}
	for _, m := range metrics.PagerCatalog() {
		descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
	}
	return func(ch chan<- prometheus.Metric) {
		add := func(name string, kind prometheus.ValueType, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(descs[name], kind, v, labels...)
		}
		h := health()
		add(metrics.PagerEvaluations, prometheus.CounterValue, float64(h.Evaluations))
		add(metrics.PagerFailures, prometheus.CounterValue, float64(h.Failures))
		if !h.Evaluated.IsZero() {
			add(metrics.PagerLastEvaluation, prometheus.GaugeValue, float64(h.Evaluated.UnixMilli())/1e3)
		}
		stalled := 0.
		if h.Stalled != nil {
			stalled = 1
		}
		add(metrics.PagerStalled, prometheus.GaugeValue, stalled)
		for _, r := range h.Alertmanagers {
			add(metrics.PagerUndelivered, prometheus.GaugeValue, float64(r.Undelivered), r.URL)
		}
	}
}
