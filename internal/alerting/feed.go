package alerting

import (
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// timestampSuffix ends the names of metrics whose value is a time, by Prometheus's convention.
const timestampSuffix = "_timestamp_seconds"

// feed stores the series of a gatherer that the rules read, like a scrape. Any goroutine may read the counts.
type feed struct {
	gatherer  prometheus.Gatherer
	memory    *memory
	clock     *clock
	instance  labels.Labels // added to every series
	maxSeries int
	logger    *slog.Logger

	series map[uint64]*fedSeries
	seed   maphash.Seed
	round  uint64 // number of the scrape
	full   bool   // the limit of series was logged

	stored atomic.Int64 // number of series
}

type fedSeries struct {
	*memorySeries
	seen uint64 // round of the last sample
}

// scrape gathers and stores once. Series that are missing since the last scrape become stale.
func (f *feed) scrape(at time.Time, wants func(series string) bool) {
	families, err := f.gatherer.Gather()
	if err != nil {
		f.logger.Warn("Cannot gather some series that the alert rules read", "err", err)
	}
	f.round++
	step, leftOut, refused := f.clock.step(), 0, error(nil)
	store := func(s *fedSeries, v float64) {
		if err := s.append(at.UnixMilli(), v); err != nil {
			refused = fmt.Errorf("%s: %w", s.labels, err)
		}
	}
	var key []byte
	for _, family := range families {
		if !wants(family.GetName()) {
			continue
		}
		isTime := strings.HasSuffix(family.GetName(), timestampSuffix)
		for _, m := range family.Metric {
			v, ok := valueOf(m)
			if !ok {
				continue
			}
			if isTime && v > 0 {
				v -= step.Seconds() // rules compare it with time(), which is the pager's clock
			}
			key = appendKey(key[:0], family.GetName(), m)
			id := maphash.Bytes(f.seed, key)
			e := f.series[id]
			if e == nil {
				if len(f.series) >= f.maxSeries {
					leftOut++
					continue
				}
				e = &fedSeries{memorySeries: f.memory.get(f.labels(family.GetName(), m))}
				f.series[id] = e
			}
			e.seen = f.round
			store(e, v)
		}
	}
	for id, e := range f.series {
		if e.seen != f.round {
			store(e, math.Float64frombits(value.StaleNaN))
			delete(f.series, id)
		}
	}
	f.stored.Store(int64(len(f.series)))
	if refused != nil {
		f.logger.Warn("Cannot store some series that the alert rules read", "err", refused)
	}
	f.logOverflow(leftOut)
}

// logOverflow logs when series exceed the limit, and when they fit again.
func (f *feed) logOverflow(leftOut int) {
	switch {
	case leftOut > 0 && !f.full:
		f.logger.Error("The pager stores no more series: rules see only a part; probe less in one process", "limit", f.maxSeries, "left_out", leftOut)
	case leftOut == 0 && f.full:
		f.logger.Info("The pager stores all series again", "series", len(f.series))
	}
	f.full = leftOut > 0
}

// valueOf returns the value of a counter or gauge. The rules read no others.
func valueOf(m *dto.Metric) (v float64, ok bool) {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue(), true
	case m.Gauge != nil:
		return m.Gauge.GetValue(), true
	}
	return m.GetUntyped().GetValue(), m.Untyped != nil
}

func (f *feed) labels(name string, m *dto.Metric) labels.Labels {
	b := labels.NewBuilder(f.instance).Set(model.MetricNameLabel, name)
	for _, l := range m.Label {
		b.Set(l.GetName(), l.GetValue())
	}
	return b.Labels()
}

// appendKey appends what identifies a series, which costs less than building its labels.
func appendKey(k []byte, name string, m *dto.Metric) []byte {
	k = append(k, name...)
	for _, l := range m.Label {
		k = append(append(k, 0xff), l.GetName()...)
		k = append(append(k, 0xff), l.GetValue()...)
	}
	return k
}
