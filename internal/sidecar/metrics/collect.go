package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Describe implements prometheus.Collector.
func (r *Recorder) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range Catalog() {
		ch <- m.desc()
	}
}

// Collect implements prometheus.Collector. It lays out all series anew, as the
// registry may hold them for any time; use Gatherer to be scraped.
func (r *Recorder) Collect(ch chan<- prometheus.Metric) {
	f := r.newFrame()
	f.fill(r)
	for _, m := range Catalog() {
		desc := m.desc()
		for _, s := range f.families[m.Name].Metric {
			ch <- series{desc, s}
		}
	}
}

func (m Metric) desc() *prometheus.Desc {
	return prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
}

// series is one finished series as the registry wants it.
type series struct {
	desc   *prometheus.Desc
	metric *dto.Metric
}

func (s series) Desc() *prometheus.Desc { return s.desc }

func (s series) Write(to *dto.Metric) error {
	m := s.metric
	to.Label = m.Label
	to.Counter, to.Gauge, to.Summary, to.Histogram = m.Counter, m.Gauge, m.Summary, m.Histogram
	return nil
}
