package metrics

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/bound"
	"synthetic/internal/sketch"
)

// exposition collects the families of one scrape. Unlike prometheus.Registry it does not check
// and sort every series, which would double the cost of a scrape with thousands of series that
// are known to be valid.
type exposition struct {
	now      time.Time
	families map[string]*dto.MetricFamily
	rows     map[reflect.Type][]Metric // by the type of the function that reads them
	window   sketch.Sketch

	counters  slab[counterSeries]
	gauges    slab[gaugeSeries]
	quantiles slab[quantile]
}

// slab allocates values 128 at a time, because a scrape has hundreds of thousands of series.
type slab[T any] struct{ free []T }

func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.free = make([]T, 128)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// Each of these types holds all parts of a series, a quantile or a pair of labels, so that they are one allocation.
type (
	counterSeries struct {
		metric  dto.Metric
		counter dto.Counter
		value   float64
	}
	gaugeSeries struct {
		metric dto.Metric
		gauge  dto.Gauge
		value  float64
	}
	quantile struct {
		pair     dto.Quantile
		q, value float64
	}
	labelPair struct {
		pair        dto.LabelPair
		name, value string
	}
)

func newExposition(now time.Time, catalog []Metric) *exposition {
	e := &exposition{now: now, families: make(map[string]*dto.MetricFamily, len(catalog)), rows: map[reflect.Type][]Metric{}}
	for _, m := range catalog {
		if m.read != nil {
			e.rows[reflect.TypeOf(m.read)] = append(e.rows[reflect.TypeOf(m.read)], m)
		}
		kind := dto.MetricType(dto.MetricType_value[strings.ToUpper(string(m.Kind))])
		e.families[m.Name] = &dto.MetricFamily{Name: &m.Name, Help: &m.Help, Type: kind.Enum()}
	}
	return e
}

func (e *exposition) sorted() []*dto.MetricFamily {
	out := make([]*dto.MetricFamily, 0, len(e.families))
	for _, f := range e.families {
		if len(f.Metric) > 0 {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, byName)
	return out
}

func byName(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) }

type value struct {
	name string
	v    float64
}

func (e *exposition) addAll(l labels, values ...value) {
	for _, v := range values {
		e.add(v.name, l, v.v)
	}
}

// gatherRows adds the series of all families that are read from a value of a type.
func gatherRows[S any](e *exposition, l labels, from S) {
	for _, m := range e.rows[reflect.TypeFor[func(S) float64]()] {
		e.add(m.Name, l, m.read.(func(S) float64)(from))
	}
}

// add adds a series to a counter or gauge.
func (e *exposition) add(name string, l labels, v float64) {
	f := e.families[name]
	switch {
	case f == nil:
	case f.GetType() == dto.MetricType_COUNTER:
		s := e.counters.next()
		s.value, s.counter.Value, s.metric.Label, s.metric.Counter = v, &s.value, l, &s.counter
		f.Metric = append(f.Metric, &s.metric)
	default:
		s := e.gauges.next()
		s.value, s.gauge.Value, s.metric.Label, s.metric.Gauge = v, &s.value, l, &s.gauge
		f.Metric = append(f.Metric, &s.metric)
	}
}

// addTotal adds a count and a sum, unless it is nil.
func (e *exposition) addTotal(name string, l labels, s prometheus.Summary) {
	if f := e.families[name]; f != nil && s != nil {
		f.Metric = append(f.Metric, written(s, l))
	}
}

// distribution adds a summary of the last 60 seconds and, if there is one, a histogram. The quantiles are NaN if
// nothing was measured; count and sum are those of all time, because they must never fall.
func (e *exposition) distribution(name, window string, l labels, d *distribution) {
	if f := e.families[name]; f != nil && d.histogram != nil {
		f.Metric = append(f.Metric, written(d.histogram, l))
	}
	f := e.families[window]
	if f == nil {
		return
	}
	m := written(d.total, l)
	d.window.Collect(e.now, &e.window)
	for _, q := range []float64{0.5, 0.95, 0.99} {
		s := e.quantiles.next()
		s.q, s.value = q, e.window.Quantile(q)
		s.pair.Quantile, s.pair.Value = &s.q, &s.value
		m.Summary.Quantile = append(m.Summary.Quantile, &s.pair)
	}
	f.Metric = append(f.Metric, m)
}

// labels are pairs sorted by name. Series share them.
type labels []*dto.LabelPair

// maxLabelValue bounds the values of labels in bytes. A Prometheus with a limit rejects the whole scrape for one
// longer value, such as a long URL.
const maxLabelValue = 128

func (l labels) with(name, value string) labels {
	value = bound.Clip(value, maxLabelValue)
	i, _ := slices.BinarySearchFunc(l, name, func(p *dto.LabelPair, name string) int { return cmp.Compare(p.GetName(), name) })
	added := &labelPair{name: name, value: value}
	added.pair.Name, added.pair.Value = &added.name, &added.value
	out := make(labels, len(l)+1)
	copy(out, l[:i])
	copy(out[i+1:], l[i:])
	out[i] = &added.pair
	return out
}

func (l labels) withAll(more map[string]string) labels {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		l = l.with(name, more[name])
	}
	return l
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
