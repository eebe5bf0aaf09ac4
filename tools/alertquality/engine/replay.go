// Package engine replays the series of a prober through Prometheus's own rule engine in
// accelerated time, and scores the rules: which incidents they page, how soon, and how many
// pages are false.
//
// Any rule file can be scored, so different rules can be compared on the same series.
package engine

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
	// Advance appends every sample up to a time; each call has a later time. wanted are the
	// names of the series that the rules read.
	Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error
}

// Chunk is the time replayed at once. One range query evaluates a rule for all steps of a
// chunk. It gives the same values as an instant query per step, many times faster.
const Chunk = 6 * time.Hour

// evalPhase sets when a group is evaluated: 1/evalPhase of its interval after the scrape.
// Prometheus spreads groups over the interval; this is the mean.
const evalPhase = 2

// Span is a time during which an alert fired. To is the first evaluation at which it had
// stopped.
type Span struct {
	Alert    string
	Labels   labels.Labels
	From, To time.Time
}

type replay struct {
	sets   []*RuleSet
	store  *Store // the scraped series
	engine *promql.Engine
	spans  []*spanCollector // by rule set
	// recorded holds the recorded series of each rule set.
	recorded []*Store
	// present holds the series that each recording rule had at its last step, to add staleness
	// markers when they end.
	present map[*rule]map[uint64]*series
}

// Replay replays src between two times and returns the spans of each rule set.
func Replay(ctx context.Context, src Source, sets []*RuleSet, from, to time.Time) ([][]Span, error) {
	spans, reached, err := replayUntil(ctx, src, sets, from, to, nil)
	if err == nil && reached.Before(to) {
		err = ctx.Err()
	}
	return spans, err
}

// replayUntil is Replay with progress, which may be nil. If ctx ends, it returns the spans until reached,
// which is the last chunk that it completed.
func replayUntil(ctx context.Context, src Source, sets []*RuleSet, from, to time.Time, progress func(at time.Time)) (spans [][]Span, reached time.Time, err error) {
	r := &replay{
		sets: sets, store: NewStore(), present: map[*rule]map[uint64]*series{},
		engine: promql.NewEngine(promql.EngineOpts{
			MaxSamples: 50e6, Timeout: time.Hour, LookbackDelta: staleAfter, EnableAtModifier: true,
			Parser: parser.NewParser(parser.Options{}),
		}),
	}
	defer r.engine.Close()
	wanted, keep := map[string]bool{}, map[string]time.Duration{}
	for _, s := range sets {
		r.spans = append(r.spans, newSpanCollector())
		own := NewStore()
		own.scraped = r.store
		r.recorded = append(r.recorded, own)
		s.lookbacks(keep)
		for _, name := range s.reads() {
			wanted[name] = true
		}
	}
	for reached = from; reached.Before(to) && ctx.Err() == nil; {
		end := earlier(reached.Add(Chunk), to)
		err := src.Advance(ctx, r.store, end, wanted)
		if err == nil {
			err = r.evaluate(ctx, reached, end)
		}
		if err != nil && ctx.Err() != nil {
			break
		}
		if err != nil {
			return nil, reached, err
		}
		for _, store := range append(r.recorded, r.store) {
			store.trim(end, keep)
		}
		reached = end
		if progress != nil {
			progress(reached)
		}
	}
	spans = make([][]Span, len(sets))
	for i, s := range r.spans {
		spans[i] = upTo(reached, s.finish(reached))
	}
	return spans, reached, nil
}

// evaluate evaluates every rule at the steps in [from, to).
func (r *replay) evaluate(ctx context.Context, from, to time.Time) error {
	for i, set := range r.sets {
		for n := 0; n < len(set.rules); {
			rules := set.together(n)
			n += len(rules)
			start, end, ok := steps(rules[0].interval, from, to)
			if !ok {
				continue
			}
			evaluate := r.evaluateRules
			if rules[0].circle != nil {
				evaluate = r.evaluateCircle
			}
			if err := evaluate(ctx, i, rules, start, end); err != nil {
				return err
			}
		}
	}
	return nil
}

// evaluateRules evaluates rules of the n-th rule set at the steps in [start, end], with one query for each.
func (r *replay) evaluateRules(ctx context.Context, n int, rules []*rule, start, end time.Time) error {
	for _, rule := range rules {
		matrix, err := r.query(ctx, n, rule, start, end)
		if err == nil && rule.records {
			err = r.record(r.recorded[n], rule, matrix, start, end)
		} else if err == nil {
			err = r.alert(ctx, rule, matrix, start, end, r.spans[n])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// evaluateCircle evaluates rules that read what they recorded a step before at the steps in [start, end]. While
// none of them records anything, one query of many steps has the same results; after that each step needs its own.
func (r *replay) evaluateCircle(ctx context.Context, n int, rules []*rule, start, end time.Time) error {
	interval := rules[0].interval
	for at := start; !at.After(end); at = at.Add(interval) {
		if !r.anyRecorded(rules) {
			last := earlier(at.Add(circleSteps*interval), end)
			first, found, err := r.firstResult(ctx, n, rules, at, last)
			if err != nil {
				return err
			}
			if at = first; !found {
				continue
			}
		}
		if err := r.evaluateRules(ctx, n, rules, at, at); err != nil {
			return err
		}
	}
	return nil
}

// circleSteps is for how many steps firstResult looks ahead.
const circleSteps = 120

// anyRecorded reports whether one of the rules had a result at its last step.
func (r *replay) anyRecorded(rules []*rule) bool {
	return slices.ContainsFunc(rules, func(rule *rule) bool { return len(r.present[rule]) > 0 })
}

// firstResult returns the first step in [start, end] at which a rule has a result, and end if no step has one.
func (r *replay) firstResult(ctx context.Context, n int, rules []*rule, start, end time.Time) (first time.Time, found bool, err error) {
	first = end
	for _, rule := range rules {
		matrix, err := r.query(ctx, n, rule, start, end)
		if err != nil {
			return first, false, err
		}
		for _, s := range matrix {
			first, found = earlier(first, timestamp.Time(s.Floats[0].T)), true
		}
	}
	return first, found, nil
}

// steps returns the first and the last evaluation in [from, to).
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

// query evaluates a rule of the n-th rule set at the steps in [start, end].
func (r *replay) query(ctx context.Context, n int, rule *rule, start, end time.Time) (promql.Matrix, error) {
	matrix, err := r.queryRange(ctx, r.recorded[n], rule, start, end)
	if err != nil {
		return nil, fmt.Errorf("rules %q, %s, from %s: %w", r.sets[n].Name, rule.name, start.UTC(), err)
	}
	return matrix, nil
}

func (r *replay) queryRange(ctx context.Context, store *Store, rule *rule, start, end time.Time) (promql.Matrix, error) {
	q, err := r.engine.NewRangeQuery(ctx, store, nil, rule.expr, start, end, rule.interval)
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
	// Closing the query returns its points to the engine, so copy them.
	out := make(promql.Matrix, len(matrix))
	for i, s := range matrix {
		out[i] = promql.Series{Metric: s.Metric, Floats: append([]promql.FPoint(nil), s.Floats...)}
	}
	return out, nil
}

// record stores the result of a recording rule. Like a rule group, it adds a staleness marker
// where a series ends.
func (r *replay) record(store *Store, rule *rule, matrix promql.Matrix, start, end time.Time) error {
	first, last, step := timestamp.FromTime(start), timestamp.FromTime(end), rule.interval.Milliseconds()
	stale := math.Float64frombits(value.StaleNaN)
	named, err := rule.named(matrix)
	if err != nil {
		return fmt.Errorf("%s: %w", rule.name, err)
	}
	now, seen := map[uint64]*series{}, map[uint64]bool{}
	for _, s := range named {
		h := s.Metric.Hash()
		seen[h] = true
		to := store.seriesOf(s.Metric)
		expected := first
		if r.present[rule][h] == nil && len(s.Floats) > 0 {
			expected = s.Floats[0].T // no earlier point
		}
		for _, p := range s.Floats {
			if p.T > expected {
				to.add(expected, stale)
			}
			to.add(p.T, p.F)
			expected = p.T + step
		}
		if expected <= last {
			to.add(expected, stale)
		} else {
			now[h] = to
		}
	}
	for h, ended := range r.present[rule] {
		if !seen[h] {
			ended.add(first, stale)
		}
	}
	r.present[rule] = now
	return nil
}

// named gives series the name and labels of a recording rule. Two series can become one: an "or"
// expression returns its left side at some steps and its right side at others.
func (rule *rule) named(matrix promql.Matrix) (promql.Matrix, error) {
	var out promql.Matrix
	at := map[uint64]int{}
	b := labels.NewBuilder(labels.EmptyLabels())
	for _, s := range matrix {
		b.Reset(s.Metric)
		b.Set(model.MetricNameLabel, rule.name)
		for name, v := range rule.labels {
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

// alert moves the state of an alert through the steps. Its query is answered from the result of
// the range query.
func (r *replay) alert(ctx context.Context, rule *rule, matrix promql.Matrix, start, end time.Time, into *spanCollector) error {
	next := make([]int, len(matrix))
	for at := start; !at.After(end); at = at.Add(rule.interval) {
		t := timestamp.FromTime(at)
		var vector promql.Vector
		for i, s := range matrix {
			if n := next[i]; n < len(s.Floats) && s.Floats[n].T == t {
				vector = append(vector, promql.Sample{Metric: s.Metric, T: t, F: s.Floats[n].F})
				next[i]++
			}
		}
		if len(vector) == 0 && rule.alert.ActiveAlertsCount() == 0 {
			continue // no state to change
		}
		answer := func(context.Context, string, time.Time) (promql.Vector, error) { return vector, nil }
		if _, err := rule.alert.Eval(ctx, 0, at, answer, &url.URL{}, 0); err != nil {
			return err
		}
		into.observe(rule, at)
	}
	return nil
}
