package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/watch"
)

// Sidecar is the part of a sidecar that turns events into series. The caller moves its clock.
type Sidecar struct {
	fleet.Fanout
	Baselines *watch.Tracker
	recorder  *metrics.Recorder
	// Now is the current time of the replay.
	Now time.Time

	read prometheus.Gatherer // the series that the rules read
	// series holds the series of each metric, by metricKey.
	series map[string]*series
	key    []byte // reused by metricKey
}

// NewSidecar returns a sidecar that has just started.
func NewSidecar(start time.Time) *Sidecar {
	s := &Sidecar{Now: start, series: map[string]*series{}}
	now := func() time.Time { return s.Now }
	s.Baselines = watch.NewTracker(watch.TrackerOptions{Now: now})
	s.recorder = metrics.NewRecorder(metrics.Options{
		Now: now, Build: metrics.Build{Version: "simulated"}, Baselines: s.Baselines,
		Heartbeat: func(probe.Key) time.Time { return now() },
	})
	s.recorder.SetReload(true, start)
	s.Fanout = fleet.Fanout{s.Baselines, s.recorder}
	return s
}

// Interval is the time between two scrapes, and the least time between two evaluations of a group.
const Interval = 30 * time.Second

// Player is a Source that plays turns into a sidecar and scrapes it.
type Player struct {
	*Sidecar
	// Play plays all turns up to a time.
	Play func(to time.Time) error
	// Scraped is the time of the last scrape.
	Scraped time.Time
}

// Advance implements Source.
func (p *Player) Advance(store *Store, to time.Time) error {
	for !p.Scraped.Add(Interval).After(to) {
		p.Scraped = p.Scraped.Add(Interval)
		if err := p.Play(p.Scraped); err != nil {
			return err
		}
		p.Now = p.Scraped
		if err := p.scrape(store); err != nil {
			return err
		}
	}
	return nil
}

// scrape adds the current values of the series that the store wants. All calls have the same store.
func (s *Sidecar) scrape(store *Store) error {
	if s.read == nil {
		s.read = s.recorder.Only(store.Wants)
	}
	families, err := s.read.Gather()
	if err != nil {
		return err
	}
	at := timestamp.FromTime(s.Now)
	for _, f := range families {
		if !store.Wants(f.GetName()) {
			continue
		}
		for _, m := range f.Metric {
			key := s.metricKey(f, m)
			series, known := s.series[string(key)]
			if !known {
				of := labels.NewBuilder(labels.FromStrings("instance", "prober", "job", "synthetic")).Set(model.MetricNameLabel, f.GetName())
				for _, l := range m.Label {
					of.Set(l.GetName(), l.GetValue())
				}
				series = store.seriesOf(of.Labels())
				s.series[string(key)] = series
			}
			series.add(at, m.GetCounter().GetValue()+m.GetGauge().GetValue()) // the rules read no other kind
		}
	}
	return nil
}

// metricKey returns a key that differs between all metrics of all families. It is valid until the next call.
func (s *Sidecar) metricKey(f *dto.MetricFamily, m *dto.Metric) []byte {
	s.key = append(s.key[:0], f.GetName()...)
	for _, l := range m.Label { // the names are the same for a whole family
		s.key = append(append(s.key, 0xff), l.GetValue()...)
	}
	return s.key
}
