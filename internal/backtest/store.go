package backtest

import (
	"context"
	"math"
	"sort"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// Series is one time series in a Store, in order of time.
type Series struct {
	labels labels.Labels
	points []promql.FPoint
}

// from is the index of the first point at a time or later.
func (s *Series) from(t int64) int {
	return sort.Search(len(s.points), func(i int) bool { return s.points[i].T >= t })
}

// Append adds a sample. One that is not newer than the last is dropped, as
// Prometheus does.
func (s *Series) Append(at int64, v float64) {
	if n := len(s.points); n > 0 && s.points[n-1].T >= at {
		return
	}
	s.points = append(s.points, promql.FPoint{T: at, F: v})
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

// Trim forgets the samples that lie further back than a time by what is kept of
// the series of their name. Most are read over minutes, a few over a month.
func (s *Store) Trim(at time.Time, keep map[string]time.Duration) {
	for name, all := range s.byName {
		oldest := timestamp.FromTime(at.Add(-max(staleAfter, keep[name])))
		for _, one := range all {
			if i := one.from(oldest); i > 0 {
				one.points = one.points[:copy(one.points, one.points[i:])]
			}
		}
	}
}

// Querier implements storage.Queryable.
func (s *Store) Querier(mint, maxt int64) (storage.Querier, error) {
	return &querier{storage.NoopQuerier(), s, mint, maxt}, nil
}

type querier struct {
	storage.Querier // the engine asks for no names or values of labels
	store           *Store
	mint, maxt      int64
}

// Select implements storage.Querier.
func (q *querier) Select(_ context.Context, sorted bool, hints *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{at: -1}
	for _, one := range q.candidates(ms) {
		if !labels.Selector(ms).Matches(one.labels) {
			continue
		}
		if from, to := one.from(q.mint), one.from(q.maxt+1); from < to {
			set.series = append(set.series, promql.Series{Metric: one.labels, Floats: thinned(one.points[from:to], hints)})
		}
	}
	if sorted {
		sort.Slice(set.series, func(i, j int) bool {
			return labels.Compare(set.series[i].Metric, set.series[j].Metric) < 0
		})
	}
	return set
}

// A rate looks at every point of its window at every step, so that windows of hours
// and days would cost more than all else. One of at least shortest is given some
// thickness points: it knows a rate no better than to that part.
const (
	shortest  = 6 * time.Hour
	thickness = 720
)

// thinned leaves out points that a long window does not need.
func thinned(points []promql.FPoint, hints *storage.SelectHints) []promql.FPoint {
	if hints == nil || hints.Range < shortest.Milliseconds() {
		return points
	}
	every := hints.Range / thickness
	out, last := make([]promql.FPoint, 0, len(points)), int64(math.MinInt64)
	for _, p := range points {
		if bucket := p.T / every; bucket != last {
			out, last = append(out, p), bucket
		}
	}
	return out
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

type seriesSet struct {
	series []promql.Series
	at     int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series                { return promql.NewStorageSeries(s.series[s.at]) }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }
