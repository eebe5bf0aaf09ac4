package sidecar

import (
	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/alerting"
	"synthetic/internal/sidecar/metrics"
)

// pagerCollector exports the health of the pager.
type pagerCollector struct {
	health func() alerting.Health
	descs  map[string]*prometheus.Desc
}

func newPagerCollector(health func() alerting.Health) *pagerCollector {
	c := &pagerCollector{health, map[string]*prometheus.Desc{}}
	for _, m := range metrics.PagerCatalog() {
		c.descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
	}
	return c
}

func (c *pagerCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

func (c *pagerCollector) Collect(ch chan<- prometheus.Metric) {
	add := func(name string, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(c.descs[name], kind, v, labels...)
	}
	h := c.health()
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
