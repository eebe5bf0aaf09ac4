package alerting

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

const (
	retention       = 24 * time.Hour
	samplesPerChunk = 120
)

// memory stores series in Prometheus' chunks. Only the goroutine that evaluates the rules uses it.
type memory struct {
	byName map[string]map[string]*series // the inner key are the labels
}

type series struct {
	labels labels.Labels
	chunks []*chunk
	app    chunkenc.Appender // of the last chunk
	round  uint64            // number of the last scrape that had the series; 0 for a result of a rule
}

// chunk has samples between two times in milliseconds.
type chunk struct {
	first, last int64
	data        *chunkenc.XORChunk
}

// get returns the series with the labels, which it creates if needed.
func (m *memory) get(ls labels.Labels) *series {
	var buf [1024]byte
	key, name := ls.Bytes(buf[:]), ls.Get(model.MetricNameLabel)
	s := m.byName[name][string(key)]
	if s == nil {
		s = &series{labels: ls.Copy()}
		if m.byName[name] == nil {
			m.byName[name] = map[string]*series{}
		}
		m.byName[name][string(key)] = s
	}
	return s
}

func (s *series) append(t int64, v float64) error {
	n := len(s.chunks)
	if n > 0 && t <= s.chunks[n-1].last {
		return storage.ErrOutOfOrderSample
	}
	if n == 0 || s.chunks[n-1].data.NumSamples() >= samplesPerChunk {
		if n > 0 {
			s.chunks[n-1].data.Compact()
		}
		s.chunks = append(s.chunks, &chunk{first: t, data: chunkenc.NewXORChunk()})
		s.app, _ = s.chunks[n].data.Appender() // an empty chunk has no errors
		n++
	}
	s.app.Append(0, t, v)
	s.chunks[n-1].last = t
	return nil
}

// Appender implements storage.Appendable.
func (m *memory) Appender(context.Context) storage.Appender { return appender{memory: m} }

// appender has the methods that Prometheus' rules call if no result is a histogram. Samples are stored at once.
type appender struct {
	storage.Appender
	memory *memory
}

func (a appender) Append(_ storage.SeriesRef, ls labels.Labels, t int64, v float64) (storage.SeriesRef, error) {
	return 0, a.memory.get(ls).append(t, v)
}

func (appender) SetOptions(*storage.AppendOptions) {}
func (appender) Commit() error                     { return nil }
func (appender) Rollback() error                   { return nil }

// Querier implements storage.Queryable.
func (m *memory) Querier(from, to int64) (storage.Querier, error) {
	return querier{memory: m, from: from, to: to}, nil
}

// querier has the methods that Prometheus' engine calls.
type querier struct {
	storage.Querier
	memory   *memory
	from, to int64
}

func (querier) Close() error { return nil }

func (q querier) Select(_ context.Context, sorted bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{SeriesSet: storage.EmptySeriesSet()}
	for name, all := range q.memory.byName {
		if slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel && !m.Matches(name) }) {
			continue
		}
		for _, s := range all {
			var in []*chunk
			for _, c := range s.chunks {
				if c.last >= q.from && c.first <= q.to {
					in = append(in, c)
				}
			}
			if len(in) > 0 && !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
				set.all = append(set.all, &storage.SeriesEntry{Lset: s.labels, SampleIteratorFn: func(chunkenc.Iterator) chunkenc.Iterator { return iterate(in) }})
			}
		}
	}
	if sorted {
		slices.SortFunc(set.all, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	}
	return set
}

// iterate returns the samples of chunks.
func iterate(chunks []*chunk) chunkenc.Iterator {
	all := make([]chunkenc.Iterator, len(chunks))
	for i, c := range chunks {
		all[i] = c.data.Iterator(nil)
	}
	return storage.ChainSampleIteratorFromIterators(nil, all)
}

// seriesSet is a list of series. next counts the calls of Next.
type seriesSet struct {
	storage.SeriesSet // for errors and warnings: none
	all               []storage.Series
	next              int
}

func (s *seriesSet) At() storage.Series { return s.all[s.next-1] }
func (s *seriesSet) Next() bool         { s.next++; return s.next <= len(s.all) }
