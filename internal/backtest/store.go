package backtest

import (
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// Series is one time series in a Store, in order of time.
type Series struct {
	labels labels.Labels
	points points
}

// Append adds a sample. One that is not newer than the last is dropped, as
// Prometheus does.
func (s *Series) Append(at int64, v float64) {
	if n := len(s.points); n > 0 && s.points[n-1].t >= at {
		return
	}
	s.points = append(s.points, point{at, v})
}

// Store is a storage in memory that holds what a replay still needs. It is not
// safe for concurrent use, which the replay does not make of it.
type Store struct {
	// base, if set, holds more series to be read: rule sets share what was
	// scraped, and must not see what others record.
	base   *Store
	byHash map[uint64]*Series
	byName map[string][]*Series
}

// NewStore returns an empty Store.
func NewStore() *Store {
	return &Store{byHash: map[uint64]*Series{}, byName: map[string][]*Series{}}
}

// Series returns the series with these labels and makes it if need be.
func (s *Store) Series(l labels.Labels) *Series {
	h := l.Hash()
	if one := s.byHash[h]; one != nil {
		return one
	}
	one := &Series{labels: l}
	s.byHash[h] = one
	name := l.Get(model.MetricNameLabel)
	s.byName[name] = append(s.byName[name], one)
	return one
}

// Trim forgets the samples before a time.
func (s *Store) Trim(before time.Time) {
	oldest := timestamp.FromTime(before)
	for _, one := range s.byHash {
		if i := one.points.from(oldest); i > 0 {
			one.points = one.points[:copy(one.points, one.points[i:])]
		}
	}
}

// Querier implements storage.Queryable.
func (s *Store) Querier(mint, maxt int64) (storage.Querier, error) {
	return &querier{s, mint, maxt}, nil
}

type querier struct {
	store      *Store
	mint, maxt int64
}

// Select implements storage.Querier.
func (q *querier) Select(_ context.Context, sorted bool, _ *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{at: -1}
	for _, one := range q.candidates(ms) {
		if !matchesAll(one.labels, ms) {
			continue
		}
		if part := one.points.within(q.mint, q.maxt); len(part) > 0 {
			set.series = append(set.series, &Series{one.labels, part})
		}
	}
	if sorted {
		sort.Slice(set.series, func(i, j int) bool {
			return labels.Compare(set.series[i].labels, set.series[j].labels) < 0
		})
	}
	return set
}

// candidates are the series of the name, if a matcher says one.
func (q *querier) candidates(ms []*labels.Matcher) []*Series {
	var all []*Series
	for s := q.store; s != nil; s = s.base {
		all = append(all, s.candidates(ms)...)
	}
	return all
}

func (s *Store) candidates(ms []*labels.Matcher) []*Series {
	for _, m := range ms {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return s.byName[m.Value]
		}
	}
	var all []*Series
	for _, some := range s.byName {
		all = append(all, some...)
	}
	return all
}

func matchesAll(l labels.Labels, ms []*labels.Matcher) bool {
	for _, m := range ms {
		if !m.Matches(l.Get(m.Name)) {
			return false
		}
	}
	return true
}

// LabelValues implements storage.LabelQuerier.
func (q *querier) LabelValues(_ context.Context, name string, _ *storage.LabelHints, ms ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	var values []string
	for _, one := range q.candidates(ms) {
		if v := one.labels.Get(name); v != "" && matchesAll(one.labels, ms) {
			values = append(values, strings.Clone(v))
		}
	}
	slices.Sort(values)
	return slices.Compact(values), nil, nil
}

// LabelNames implements storage.LabelQuerier.
func (q *querier) LabelNames(_ context.Context, _ *storage.LabelHints, ms ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	var names []string
	for _, one := range q.candidates(ms) {
		if matchesAll(one.labels, ms) {
			one.labels.Range(func(l labels.Label) { names = append(names, l.Name) })
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil, nil
}

// Close implements storage.LabelQuerier.
func (q *querier) Close() error { return nil }

type seriesSet struct {
	series []*Series
	at     int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series                { return s.series[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// Labels implements storage.Series.
func (s *Series) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *Series) Iterator(reuse chunkenc.Iterator) chunkenc.Iterator {
	if it, ok := reuse.(interface{ Reset(storage.Samples) }); ok {
		it.Reset(s.points)
		return reuse
	}
	return storage.NewListSeriesIterator(s.points)
}
