package engine

import (
	"context"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// series is one time series in a Store, sorted by time.
type series struct {
	labels labels.Labels
	points []promql.FPoint
}

// from returns the index of the first point at time t or later.
func (s *series) from(t int64) int {
	return sort.Search(len(s.points), func(i int) bool { return s.points[i].T >= t })
}

// add adds a sample. Like Prometheus, it drops a sample that is not newer than the last.
func (s *series) add(at int64, v float64) {
	if n := len(s.points); n > 0 && s.points[n-1].T >= at {
		return
	}
	s.points = append(s.points, promql.FPoint{T: at, F: v})
}

// Store holds in memory the series that a replay still needs. It is not safe for concurrent
// use.
type Store struct {
	// scraped, if set, holds more series to read. Rule sets share the scraped series and must
	// not see what other sets record.
	scraped *Store
	byHash  map[uint64]*series
	byName  map[string][]*series
}

// NewStore returns an empty Store.
func NewStore() *Store {
	return &Store{byHash: map[uint64]*series{}, byName: map[string][]*series{}}
}

// Append adds a sample to the series with these labels.
func (s *Store) Append(l labels.Labels, at time.Time, v float64) {
	s.seriesOf(l).add(timestamp.FromTime(at), v)
}

// seriesOf returns the series with these labels, and creates it if needed.
func (s *Store) seriesOf(l labels.Labels) *series {
	h := l.Hash()
	if s.byHash[h] == nil {
		created := &series{labels: l}
		s.byHash[h] = created
		name := l.Get(model.MetricNameLabel)
		s.byName[name] = append(s.byName[name], created)
	}
	return s.byHash[h]
}

// trim drops samples older than keep allows for the name of their series. Most series are read
// over minutes, a few over a month.
func (s *Store) trim(at time.Time, keep map[string]time.Duration) {
	for name, all := range s.byName {
		oldest := timestamp.FromTime(at.Add(-max(staleAfter, keep[name])))
		for _, series := range all {
			if i := series.from(oldest); i > 0 {
				series.points = series.points[:copy(series.points, series.points[i:])]
			}
		}
	}
}

// Querier implements storage.Queryable.
func (s *Store) Querier(mint, maxt int64) (storage.Querier, error) {
	return &querier{storage.NoopQuerier(), s, mint, maxt}, nil
}

type querier struct {
	storage.Querier // the engine never asks for label names or values
	store           *Store
	mint, maxt      int64
}

// Select implements storage.Querier.
func (q *querier) Select(_ context.Context, sorted bool, hints *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{at: -1}
	for _, series := range q.store.candidates(ms) {
		if !labels.Selector(ms).Matches(series.labels) {
			continue
		}
		if from, to := series.from(q.mint), series.from(q.maxt+1); from < to {
			set.series = append(set.series, promql.Series{Metric: series.labels, Floats: thinOut(series.points[from:to], hints)})
		}
	}
	if sorted {
		sort.Slice(set.series, func(i, j int) bool {
			return labels.Compare(set.series[i].Metric, set.series[j].Metric) < 0
		})
	}
	return set
}

// A rate reads every point of its window at every step, so windows of hours and days would take
// most of the time. A window of at least thinFrom gets only about thinPoints points. The error
// of its rate is then about 1/thinPoints.
const (
	thinFrom   = 6 * time.Hour
	thinPoints = 720
)

// thinOut drops points that a long window does not need.
func thinOut(points []promql.FPoint, hints *storage.SelectHints) []promql.FPoint {
	if hints == nil || hints.Range < thinFrom.Milliseconds() {
		return points
	}
	every := hints.Range / thinPoints
	out, last := make([]promql.FPoint, 0, len(points)), int64(math.MinInt64)
	for _, p := range points {
		if bucket := p.T / every; bucket != last {
			out, last = append(out, p), bucket
		}
	}
	return out
}

// candidates returns the series of the name that a matcher requires, or all series.
func (s *Store) candidates(ms []*labels.Matcher) []*series {
	if s == nil {
		return nil
	}
	var own []*series
	i := slices.IndexFunc(ms, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual })
	if i >= 0 {
		own = s.byName[ms[i].Value]
	} else {
		own = slices.Concat(slices.Collect(maps.Values(s.byName))...)
	}
	return slices.Concat(own, s.scraped.candidates(ms))
}

type seriesSet struct {
	series []promql.Series
	at     int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series                { return promql.NewStorageSeries(s.series[s.at]) }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }
