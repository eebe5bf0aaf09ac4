package dashboardtest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"synthetic/internal/dashboard"
)

// Query is a query of a panel.
type Query struct {
	// Dashboard and Panel are titles; Ref is the letter of the query.
	Dashboard, Panel, Ref string
	// Expr contains the variables of the dashboard.
	Expr    string
	Instant bool
}

func (q Query) String() string {
	return fmt.Sprintf("%s / %s / %s: %s", q.Dashboard, q.Panel, q.Ref, q.Expr)
}

// MayBeEmpty lists the panels, by title, that may be empty, with the reason.
func MayBeEmpty() map[string]string {
	return map[string]string{
		"Gateway":                 "most targets have no gateway",
		"Overhead of the gateway": "most targets have no gateway",
		"Lost to the prober":      "nothing may be lost",
	}
}

// Queries returns the queries of dashboards in the order of their panels.
func Queries(ds []dashboard.Dashboard) ([]Query, error) {
	var out []Query
	for _, d := range ds {
		b, err := Decode(d)
		if err != nil {
			return nil, err
		}
		for _, p := range b.Panels {
			for _, t := range p.Targets {
				out = append(out, Query{b.Title, p.Title, t.RefID, t.Expr, t.Instant})
			}
		}
	}
	return out, nil
}

// Substitute replaces variables like Grafana: all targets, workloads, variants and probers,
// the rate window of the finest resolution, and a time range of span.
func Substitute(expr string, span time.Duration) string {
	return strings.NewReplacer(
		"$__rate_interval", "4m", "$__interval", "1m",
		"$__range", model.Duration(span.Truncate(time.Second)).String(),
		"${target:regex}", ".*", "${workload:regex}", ".*", "${instance:regex}", ".*", "${cluster:regex}", ".*", "${namespace:regex}", ".*", "$server", ".*",
	).Replace(expr)
}

// Empty runs every query of the dashboards from start to end and returns those with no
// value other than NaN.
func Empty(ctx context.Context, db storage.Queryable, ds []dashboard.Dashboard, start, end time.Time) ([]Query, error) {
	queries, err := Queries(ds)
	if err != nil {
		return nil, err
	}
	engine := newEngine()
	var empty []Query
	for _, q := range queries {
		known, err := answered(ctx, engine, db, q, start, end)
		if err != nil {
			return nil, fmt.Errorf("running %s: %w", q, err)
		}
		if !known {
			empty = append(empty, q)
		}
	}
	return empty, nil
}

// Marks runs the query of an annotation for one target and returns its samples.
func Marks(ctx context.Context, db storage.Queryable, expr, target string, start, end time.Time) (promql.Matrix, error) {
	expr = Substitute(strings.ReplaceAll(expr, "${target:regex}", target), end.Sub(start))
	q, err := newEngine().NewRangeQuery(ctx, db, nil, expr, start, end, time.Minute)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	return q.Exec(ctx).Matrix()
}

// Instant evaluates a query of a dashboard at a time, with span as the time range.
func Instant(ctx context.Context, db storage.Queryable, expr string, at time.Time, span time.Duration) (promql.Vector, error) {
	q, err := newEngine().NewInstantQuery(ctx, db, nil, Substitute(expr, span), at)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	return q.Exec(ctx).Vector()
}

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: 10_000_000,
		Timeout:    time.Minute,
		// as in Prometheus
		EnableAtModifier: true, EnableNegativeOffset: true,
		Parser: parser.NewParser(parser.Options{}),
	})
}

// answered reports whether a query returns any value.
func answered(ctx context.Context, e *promql.Engine, db storage.Queryable, q Query, start, end time.Time) (bool, error) {
	expr := Substitute(q.Expr, end.Sub(start))
	var (
		prepared promql.Query
		err      error
	)
	if q.Instant {
		prepared, err = e.NewInstantQuery(ctx, db, nil, expr, end)
	} else {
		prepared, err = e.NewRangeQuery(ctx, db, nil, expr, start, end, step(end.Sub(start)))
	}
	if err != nil {
		return false, err
	}
	defer prepared.Close()
	res := prepared.Exec(ctx)
	if res.Err != nil {
		return false, res.Err
	}
	return anyKnown(res.Value), nil
}

// step divides a range into about 100 points, at least 15 seconds apart.
func step(span time.Duration) time.Duration { return max(span/100, 15*time.Second) }

func anyKnown(v parser.Value) bool {
	switch v := v.(type) {
	case promql.Scalar:
		return !math.IsNaN(v.V)
	case promql.Vector:
		for _, s := range v {
			if s.H != nil || !math.IsNaN(s.F) {
				return true
			}
		}
	case promql.Matrix:
		for _, s := range v {
			if len(s.Histograms) > 0 {
				return true
			}
			for _, p := range s.Floats {
				if !math.IsNaN(p.F) {
					return true
				}
			}
		}
	}
	return false
}
