package sidecar

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/alerting"
	"synthetic/internal/sidecar/metrics"
)

type pagerCollector struct {
	health func() alerting.Health
	descs  map[string]*prometheus.Desc
	kinds  map[string]prometheus.ValueType
}

func (c pagerCollector) withCatalog() *pagerCollector {
	c.descs, c.kinds = map[string]*prometheus.Desc{}, map[string]prometheus.ValueType{}
	for _, m := range metrics.PagerCatalog() {
		c.descs[m.Name], c.kinds[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil), prometheus.GaugeValue
		if m.Kind == metrics.Counter {
			c.kinds[m.Name] = prometheus.CounterValue
		}
	}
	return &c
}

// Describe implements prometheus.Collector.
func (c *pagerCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *pagerCollector) Collect(ch chan<- prometheus.Metric) {
	add := func(name string, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(c.descs[name], c.kinds[name], v, labels...)
	}
	addTime := func(name string, t time.Time, labels ...string) {
		if !t.IsZero() {
			add(name, float64(t.UnixMilli())/1e3, labels...)
		}
	}
	h := c.health()
	add(metrics.PagerEvaluations, float64(h.Evaluations))
	add(metrics.PagerFailures, float64(h.Failures))
	addTime(metrics.PagerLastEvaluation, h.Oldest)
	for i, n := range []int{h.Pending, h.Firing} {
		add(metrics.PagerAlerts, float64(n), metrics.PagerStates()[i])
	}
	stalled := 0.
	if h.Stalled != nil {
		stalled = 1
	}
	add(metrics.PagerStalled, stalled)
	add(metrics.PagerSeries, float64(h.Series))
	for _, r := range h.Alertmanagers {
		add(metrics.PagerNotifications, float64(r.Sent), r.URL)
		add(metrics.PagerNotifyFailures, float64(r.Failed), r.URL)
		add(metrics.PagerUndelivered, float64(r.Undelivered), r.URL)
		addTime(metrics.PagerLastNotification, r.LastOK, r.URL)
	}
}
