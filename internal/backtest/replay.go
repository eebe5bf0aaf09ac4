// Package backtest replays probe series, simulated or recorded, through
// Prometheus's own rule engine at accelerated time and scores the rules as
// pagers: what they page, how soon, and how often for nothing.
//
// It takes any rule file, so that rules of different makers can be laid side
// by side on the same series.
package backtest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	promrules "github.com/prometheus/prometheus/rules"
)

// Source fills a store.
type Source interface {
	// Advance appends every sample up to a time, which never falls. wanted are
	// the names that will be read.
	Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error
}

// Chunk is how much time is replayed at once. Each rule is evaluated for all
// steps of a chunk by one range query, which gives the same values as one
// instant query per step and is many times faster.
const Chunk = 6 * time.Hour

// evalPhase is when, within its interval, a group is evaluated after a scrape:
// Prometheus spreads groups, and the middle is the mean.
const evalPhase = 2

// Span is a time in which an alert fired: From its first evaluation, To the
// first at which it did not.
type Span struct {
	Alert    string
	Labels   labels.Labels
	From, To time.Time
}

// replay is one run of several rule sets over one source.
type replay struct {
	sets   []*RuleSet
	store  *Store // what was scraped
	engine *promql.Engine
	spans  []*spans // by set
	// recorded holds what each set records.
	recorded []*Store
	// present are the series that a recording rule gave at its last step, for
	// their staleness markers.
	present map[*rule]map[uint64]*Series
}

// Run replays a source from one time to another and returns what fired, by
// rule set.
func Run(ctx context.Context, src Source, sets []*RuleSet, from, to time.Time) ([][]Span, error) {
	r := &replay{
		sets: sets, store: NewStore(), present: map[*rule]map[uint64]*Series{},
		engine: promql.NewEngine(promql.EngineOpts{
			MaxSamples: 50e6, Timeout: time.Hour, LookbackDelta: staleAfter, EnableAtModifier: true,
			Parser: parser.NewParser(parser.Options{}),
		}),
	}
	defer r.engine.Close()
	wanted, keep := map[string]bool{}, map[string]time.Duration{}
	for _, s := range sets {
		r.spans = append(r.spans, newSpans())
		own := NewStore()
		own.base = r.store
		r.recorded = append(r.recorded, own)
		s.lookbacks(keep)
		for _, name := range s.Reads() {
			wanted[name] = true
		}
	}
	for at := from; at.Before(to); {
		end := earlier(at.Add(Chunk), to)
		if err := src.Advance(ctx, r.store, end, wanted); err != nil {
			return nil, err
		}
		if err := r.evaluate(ctx, at, end); err != nil {
			return nil, err
		}
		for _, store := range append(r.recorded, r.store) {
			store.Trim(end, keep)
		}
		at = end
	}
	out := make([][]Span, len(sets))
	for i, s := range r.spans {
		out[i] = s.finish(to)
	}
	return out, nil
}

// evaluate runs every rule over the steps in [from, to).
func (r *replay) evaluate(ctx context.Context, from, to time.Time) error {
	for i, set := range r.sets {
		for _, one := range set.rules {
			start, end, ok := steps(one.interval, from, to)
			if !ok {
				continue
			}
			matrix, err := r.query(ctx, r.recorded[i], one, start, end)
			if err != nil {
				return fmt.Errorf("rules %q, %s, from %s: %w", set.Name, one.name, start.UTC(), err)
			}
			if one.records {
				err = r.record(r.recorded[i], one, matrix, start, end)
			} else {
				err = r.alert(ctx, one, matrix, start, end, r.spans[i])
			}
			if err != nil {
				return fmt.Errorf("rules %q, %s: %w", set.Name, one.name, err)
			}
		}
	}
	return nil
}

// steps are the first and the last evaluation in [from, to).
func steps(interval time.Duration, from, to time.Time) (start, end time.Time, ok bool) {
	start = from.Truncate(interval).Add(interval / evalPhase)
	if start.Before(from) {
		start = start.Add(interval)
	}
	if !start.Before(to) {
		return start, end, false
	}
	n := to.Sub(start) / interval
	if start.Add(n * interval).Equal(to) {
		n--
	}
	return start, start.Add(n * interval), true
}

func (r *replay) query(ctx context.Context, store *Store, one *rule, start, end time.Time) (promql.Matrix, error) {
	q, err := r.engine.NewRangeQuery(ctx, store, nil, one.expr, start, end, one.interval)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(ctx)
	if result.Err != nil {
		return nil, result.Err
	}
	matrix, err := result.Matrix()
	if err != nil {
		return nil, err
	}
	// The engine takes its points back when the query is closed.
	out := make(promql.Matrix, len(matrix))
	for i, s := range matrix {
		out[i] = promql.Series{Metric: s.Metric, Floats: append([]promql.FPoint(nil), s.Floats...)}
	}
	return out, nil
}

// record stores what a recording rule gave, with a staleness marker where a
// series ends, as a rule group does.
func (r *replay) record(store *Store, one *rule, matrix promql.Matrix, start, end time.Time) error {
	first, last, step := timestamp.FromTime(start), timestamp.FromTime(end), one.interval.Milliseconds()
	stale := math.Float64frombits(value.StaleNaN)
	given, err := one.named(matrix)
	if err != nil {
		return err
	}
	now, seen := map[uint64]*Series{}, map[uint64]bool{}
	for _, s := range given {
		h := s.Metric.Hash()
		seen[h] = true
		to := store.Series(s.Metric)
		expected := first
		if r.present[one][h] == nil && len(s.Floats) > 0 {
			expected = s.Floats[0].T // nothing ended before
		}
		for _, p := range s.Floats {
			if p.T > expected {
				to.Append(expected, stale)
			}
			to.Append(p.T, p.F)
			expected = p.T + step
		}
		if expected <= last {
			to.Append(expected, stale)
		} else {
			now[h] = to
		}
	}
	for h, ended := range r.present[one] {
		if !seen[h] {
			ended.Append(first, stale)
		}
	}
	r.present[one] = now
	return nil
}

// named gives series the name and the labels of a recording rule. What is one
// series then may have been several, of different steps: an "or" gives the metrics
// of its one side at some and those of the other at others.
func (one *rule) named(matrix promql.Matrix) (promql.Matrix, error) {
	var out promql.Matrix
	at := map[uint64]int{}
	b := labels.NewBuilder(labels.EmptyLabels())
	for _, s := range matrix {
		b.Reset(s.Metric)
		b.Set(model.MetricNameLabel, one.name)
		for name, v := range one.labels {
			b.Set(name, v)
		}
		l := b.Labels()
		i, known := at[l.Hash()]
		if !known {
			at[l.Hash()] = len(out)
			out = append(out, promql.Series{Metric: l, Floats: s.Floats})
			continue
		}
		both := slices.Concat(out[i].Floats, s.Floats)
		slices.SortFunc(both, func(a, b promql.FPoint) int { return cmp.Compare(a.T, b.T) })
		for n := 1; n < len(both); n++ {
			if both[n].T == both[n-1].T {
				return nil, promrules.ErrDuplicateRecordingLabelSet
			}
		}
		out[i].Floats = both
	}
	return out, nil
}

// alert moves an alert's state through the steps. The query that it makes is
// answered from what the range query gave.
func (r *replay) alert(ctx context.Context, one *rule, matrix promql.Matrix, start, end time.Time, into *spans) error {
	next := make([]int, len(matrix))
	for at := start; !at.After(end); at = at.Add(one.interval) {
		t := timestamp.FromTime(at)
		var vector promql.Vector
		for i, s := range matrix {
			if n := next[i]; n < len(s.Floats) && s.Floats[n].T == t {
				vector = append(vector, promql.Sample{Metric: s.Metric, T: t, F: s.Floats[n].F})
				next[i]++
			}
		}
		if len(vector) == 0 && one.alert.ActiveAlertsCount() == 0 {
			continue // nothing to find and nothing to end
		}
		answer := func(context.Context, string, time.Time) (promql.Vector, error) { return vector, nil }
		if _, err := one.alert.Eval(ctx, 0, at, answer, &url.URL{}, 0); err != nil {
			return err
		}
		into.observe(one, at)
	}
	return nil
}
