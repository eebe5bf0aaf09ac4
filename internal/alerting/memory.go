package alerting

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// The pager keeps every sample for freshFor, and one in thinStep for retention, so that a day takes a fifth of the memory.
// Ranges of at most freshFor are exact; in longer ones, short peaks of gauges may be missing.
const (
	freshFor         = 2 * time.Hour
	thinStep         = 2 * time.Minute
	retention        = 24 * time.Hour
	samplesPerChunk  = 120
	cleaningInterval = 10 * time.Minute
)

// memory stores series in Prometheus' chunks. Only the goroutine that evaluates the rules uses it.
type memory struct {
	byLabels map[string]*memorySeries
	byName   map[string][]*memorySeries
	cleaned  int64 // when clean last removed samples
}

type memorySeries struct {
	labels      labels.Labels
	last        int64 // time of the newest sample in milliseconds
	fresh, thin chunkList
}

type chunkList []*chunk

type chunk struct {
	first, last int64
	data        *chunkenc.XORChunk
	app         chunkenc.Appender // nil if the chunk is full
}

func newMemory() *memory {
	return &memory{byLabels: map[string]*memorySeries{}, byName: map[string][]*memorySeries{}, cleaned: math.MinInt64}
}

// get returns the series with the labels, which it creates if needed.
func (m *memory) get(ls labels.Labels) *memorySeries {
	var buf [1024]byte
	key := ls.Bytes(buf[:])
	s := m.byLabels[string(key)]
	if s == nil {
		s = &memorySeries{labels: ls.Copy(), last: math.MinInt64}
		m.byLabels[string(key)] = s
		name := ls.Get(model.MetricNameLabel)
		m.byName[name] = append(m.byName[name], s)
	}
	return s
}

func (s *memorySeries) append(t int64, v float64) error {
	switch {
	case t == s.last:
		return storage.ErrDuplicateSampleForTimestamp
	case t < s.last:
		return storage.ErrOutOfOrderSample
	}
	s.last = t
	s.fresh.append(t, v)
	if len(s.thin) == 0 || value.IsStaleNaN(v) || t-s.thin[len(s.thin)-1].last >= thinStep.Milliseconds() {
		s.thin.append(t, v)
	}
	return nil
}

func (l *chunkList) append(t int64, v float64) {
	n := len(*l)
	if n == 0 || (*l)[n-1].data.NumSamples() >= samplesPerChunk {
		if n > 0 {
			(*l)[n-1].data.Compact()
			(*l)[n-1].app = nil
		}
		c := &chunk{first: t, data: chunkenc.NewXORChunk()}
		c.app, _ = c.data.Appender() // an empty chunk has no errors
		*l = append(*l, c)
		n++
	}
	c := (*l)[n-1]
	c.app.Append(0, t, v)
	c.last = t
}

// clean removes old samples, and series without samples, if that was long ago.
func (m *memory) clean(now time.Time) {
	if now.UnixMilli()-m.cleaned < cleaningInterval.Milliseconds() {
		return
	}
	m.cleaned = now.UnixMilli()
	before := func(age time.Duration) func(*chunk) bool {
		limit := now.Add(-age).UnixMilli()
		return func(c *chunk) bool { return c.last < limit }
	}
	old := before(retention)
	for key, s := range m.byLabels {
		s.fresh, s.thin = slices.DeleteFunc(s.fresh, before(freshFor)), slices.DeleteFunc(s.thin, old)
		if len(s.thin) == 0 {
			delete(m.byLabels, key)
		}
	}
	for name, all := range m.byName {
		if all = slices.DeleteFunc(all, func(s *memorySeries) bool { return len(s.thin) == 0 }); len(all) == 0 {
			delete(m.byName, name)
		} else {
			m.byName[name] = all
		}
	}
}

// Appender implements storage.Appendable.
func (m *memory) Appender(context.Context) storage.Appender { return appender{memory: m} }

// appender has the methods that Prometheus' rules call. Samples are stored at once.
type appender struct {
	storage.Appender
	memory *memory
}

func (a appender) Append(_ storage.SeriesRef, ls labels.Labels, t int64, v float64) (storage.SeriesRef, error) {
	return 0, a.memory.get(ls).append(t, v)
}

func (appender) AppendHistogram(storage.SeriesRef, labels.Labels, int64, *histogram.Histogram, *histogram.FloatHistogram) (storage.SeriesRef, error) {
	return 0, errors.New("the pager stores no native histograms")
}

func (appender) SetOptions(*storage.AppendOptions) {}
func (appender) Commit() error                     { return nil }
func (appender) Rollback() error                   { return nil }

// Querier implements storage.Queryable.
func (m *memory) Querier(from, to int64) (storage.Querier, error) { return querier{m, from, to}, nil }

type querier struct {
	*memory
	from, to int64
}

func (q querier) Select(_ context.Context, sorted bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{at: -1}
	for name, all := range q.byName {
		if !matchesName(name, matchers) {
			continue
		}
		for _, s := range all {
			if chunks := s.between(q.from, q.to); len(chunks) > 0 && s.matches(matchers) {
				set.series = append(set.series, &storage.SeriesEntry{Lset: s.labels, SampleIteratorFn: chunks.iterator})
			}
		}
	}
	if sorted {
		slices.SortFunc(set.series, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	}
	return set
}

func (s *memorySeries) matches(matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(s.labels.Get(m.Name)) {
			return false
		}
	}
	return true
}

func matchesName(name string, matchers []*labels.Matcher) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel && !m.Matches(name) })
}

// between returns the chunks with samples between two times.
func (s *memorySeries) between(from, to int64) (out chunkList) {
	add := func(chunks chunkList, to int64) {
		for _, c := range chunks {
			if c.last >= from && c.first <= to {
				out = append(out, c)
			}
		}
	}
	if len(s.fresh) == 0 {
		add(s.thin, to)
		return out
	}
	add(s.thin, min(to, s.fresh[0].first-1))
	add(s.fresh, to)
	return out
}

// iterator returns the samples of the chunks. The last thin chunk has some samples of the fresh ones.
func (l chunkList) iterator(chunkenc.Iterator) chunkenc.Iterator {
	all := make([]chunkenc.Iterator, len(l))
	for i, c := range l {
		all[i] = c.data.Iterator(nil)
	}
	if len(all) == 1 {
		return all[0]
	}
	return storage.ChainSampleIteratorFromIterators(nil, all)
}

func (querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (querier) Close() error { return nil }

type seriesSet struct {
	series []storage.Series
	at     int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series                { return s.series[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }
