package backtest

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"

	"synthetic/internal/alerting"
)

// scraper scrapes a Recorder in accelerated time.
type scraper struct {
	now time.Time
	// sinks are the series of each sample of a metric, by its name and labels.
	sinks map[string][]*Series
	key   []byte
}

// scrape appends what a recorder shows now.
func (s *scraper) scrape(read prometheus.Gatherer, store *Store, wanted map[string]bool) error {
	families, err := read.Gather()
	if err != nil {
		return err
	}
	at := timestamp.FromTime(s.now)
	base := labels.FromStrings("instance", "prober", "job", "synthetic")
	wants := func(series string) bool { return wanted[series] }
	for _, f := range families {
		for _, m := range f.Metric {
			key := s.keyOf(f, m)
			series, known := s.sinks[string(key)]
			n := 0
			alerting.Each(f.GetName(), m, false, wants, func(one alerting.Sample) {
				if !known {
					series = append(series, store.Series(one.Labels(m, base)))
				}
				series[n].Append(at, one.Value)
				n++
			})
			if !known {
				s.sinks[string(key)] = series
			}
		}
	}
	return nil
}

// keyOf tells the metrics of all families apart. It is good until the next one.
func (s *scraper) keyOf(f *dto.MetricFamily, m *dto.Metric) []byte {
	s.key = append(s.key[:0], f.GetName()...)
	for _, l := range m.Label { // whose names are those of the family
		s.key = append(append(s.key, 0xff), l.GetValue()...)
	}
	return s.key
}

// wantedFamily reports whether any series of a family is wanted.
func wantedFamily(name string, wanted map[string]bool) bool {
	return wanted[name] || wanted[name+"_bucket"] || wanted[name+"_sum"] || wanted[name+"_count"]
}
