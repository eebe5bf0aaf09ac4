package engine

import (
	"context"
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
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

// Store holds in memory the series that rules read, for as long as they read them. The store of the pager
// forgets after a day. A Store is not safe for concurrent use.
type Store struct {
	// keep says by series name how long samples are kept. Other series are not stored.
	keep   map[string]time.Duration
	byHash map[uint64]*series
	byName map[string][]*series
}

func newStore(keep map[string]time.Duration) *Store {
	return &Store{keep: keep, byHash: map[uint64]*series{}, byName: map[string][]*series{}}
}

// Wants reports whether rules read series of this name.
func (s *Store) Wants(name string) bool { return s.keep[name] > 0 }

// Add adds a sample to the series with these labels.
func (s *Store) Add(l labels.Labels, at time.Time, v float64) {
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

// trim drops samples that no rule reads any more.
func (s *Store) trim(at time.Time) {
	for name, all := range s.byName {
		oldest := timestamp.FromTime(at.Add(-s.keep[name]))
		for _, series := range all {
			if i := series.from(oldest); i > 0 {
				series.points = series.points[:copy(series.points, series.points[i:])]
			}
		}
	}
}

// Appender implements storage.Appendable for the rules, which store at once.
func (s *Store) Appender(context.Context) storage.Appender { return appender{store: s} }

// appender has the methods that Prometheus' rules call.
type appender struct {
	storage.Appender
	store *Store
}

func (a appender) Append(_ storage.SeriesRef, l labels.Labels, at int64, v float64) (storage.SeriesRef, error) {
	if a.store.Wants(l.Get(model.MetricNameLabel)) {
		a.store.seriesOf(l).add(at, v)
	}
	return 0, nil
}

func (appender) AppendHistogram(storage.SeriesRef, labels.Labels, int64, *histogram.Histogram, *histogram.FloatHistogram) (storage.SeriesRef, error) {
	return 0, errors.New("a rule records a native histogram, which the store cannot hold: record a number")
}

func (appender) SetOptions(*storage.AppendOptions) {}
func (appender) Commit() error                     { return nil }

// Querier implements storage.Queryable.
func (s *Store) Querier(from, to int64) (storage.Querier, error) {
	return &querier{storage.NoopQuerier(), s, from, to}, nil
}

type querier struct {
	storage.Querier // the rules never ask for label names or values
	store           *Store
	from, to        int64
}

// Select implements storage.Querier. The rules name each series that they read.
func (q *querier) Select(_ context.Context, sorted bool, _ *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{at: -1}
	named := slices.IndexFunc(ms, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel })
	for _, series := range q.store.byName[ms[named].Value] {
		from, to := series.from(q.from), series.from(q.to+1)
		if from < to && labels.Selector(ms).Matches(series.labels) {
			set.series = append(set.series, promql.Series{Metric: series.labels, Floats: series.points[from:to]})
		}
	}
	if sorted {
		slices.SortFunc(set.series, func(a, b promql.Series) int { return labels.Compare(a.Metric, b.Metric) })
	}
	return set
}

type seriesSet struct {
	series []promql.Series
	at     int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series                { return promql.NewStorageSeries(s.series[s.at]) }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }
