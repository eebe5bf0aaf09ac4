// Package promtest is a Prometheus without a clock for tests: the real storage, query
// engine and rule manager. The test feeds them and sets the time.
package promtest

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	promrules "github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
)

// Server is a Prometheus. Time must not go back between calls.
type Server struct {
	Storage *teststorage.TestStorage
	Engine  *promql.Engine

	t      testing.TB
	groups []*promrules.Group
	// last holds the series of the last scrape by instance. Series that the next scrape
	// lacks become stale.
	last map[string]map[uint64]labels.Labels
	refs map[uint64]storage.SeriesRef
}

// New returns a server that evaluates the rules of a rule file's text. Groups without an
// interval are evaluated every defaultInterval. Features change the query engine.
func New(t testing.TB, ruleFile []byte, defaultInterval time.Duration, features ...func(*promql.EngineOpts)) *Server {
	t.Helper()
	syntax := parser.NewParser(parser.Options{})
	options := promql.EngineOpts{
		MaxSamples: 50e6, Timeout: time.Minute, Parser: syntax,
		LookbackDelta: 5 * time.Minute, EnableAtModifier: true,
	}
	for _, feature := range features {
		feature(&options)
	}
	s := &Server{
		Storage: teststorage.New(t),
		Engine:  promql.NewEngine(options),
		t:       t, last: map[string]map[uint64]labels.Labels{}, refs: map[uint64]storage.SeriesRef{},
	}
	t.Cleanup(func() { _ = s.Engine.Close() })
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, ruleFile, 0o600); err != nil {
		t.Fatal(err)
	}
	m := promrules.NewManager(&promrules.ManagerOptions{
		QueryFunc:  promrules.EngineQueryFunc(s.Engine, s.Storage),
		Appendable: s.Storage, Queryable: s.Storage, Context: t.Context(),
		NotifyFunc: func(context.Context, string, ...*promrules.Alert) {},
		Logger:     slog.New(slog.DiscardHandler), Parser: syntax,
	})
	groups, errs := m.LoadGroups(defaultInterval, labels.EmptyLabels(), "", nil, false, path)
	if errs != nil {
		t.Fatal(errs)
	}
	for _, g := range groups {
		s.groups = append(s.groups, g)
		for _, r := range g.Rules() {
			if a, ok := r.(*promrules.AlertingRule); ok {
				a.SetRestored(true)
			}
		}
	}
	slices.SortFunc(s.groups, inOrderOf(ruleFile))
	return s
}

// inOrderOf compares groups by their order in a rule file. A manager returns them in any
// order, but rules that are evaluated at the same instant read series recorded before.
func inOrderOf(file []byte) func(a, b *promrules.Group) int {
	place := func(g *promrules.Group) int { return bytes.Index(file, []byte("name: "+g.Name()+"\n")) }
	return func(a, b *promrules.Group) int { return place(a) - place(b) }
}

// Scrape stores the samples of an instance at a time. No samples mean that the scrape
// failed. Series of the previous scrape that are missing become stale.
func (s *Server) Scrape(at time.Time, instance string, samples []Sample) {
	s.t.Helper()
	a := s.Storage.Appender(s.t.Context())
	add := func(hash uint64, l labels.Labels, v float64) {
		ref, err := a.Append(s.refs[hash], l, at.UnixMilli(), v)
		if err != nil {
			s.t.Fatalf("appending %s at %s: %v", l, at, err)
		}
		s.refs[hash] = ref
	}
	seen := make(map[uint64]labels.Labels, len(samples))
	for _, sample := range samples {
		l := labels.NewBuilder(sample.Labels).Set("instance", instance).Set("job", "synthetic").Labels()
		hash := l.Hash()
		seen[hash] = l
		add(hash, l, sample.Value)
	}
	for hash, l := range s.last[instance] {
		if _, still := seen[hash]; !still {
			add(hash, l, math.Float64frombits(value.StaleNaN))
		}
	}
	s.last[instance] = seen
	if err := a.Commit(); err != nil {
		s.t.Fatal(err)
	}
}

// Evaluate evaluates the groups whose interval divides the time. A rule that fails ends the
// test.
func (s *Server) Evaluate(at time.Time) {
	s.t.Helper()
	s.EvaluateGroups("", at, at)
}

// EvaluateGroups is Evaluate for the groups whose names begin with prefix and whose interval
// divides due. It evaluates them as of another time.
func (s *Server) EvaluateGroups(prefix string, due, at time.Time) {
	s.t.Helper()
	for _, g := range s.groups {
		if !strings.HasPrefix(g.Name(), prefix) || due.UnixNano()%g.Interval().Nanoseconds() != 0 {
			continue
		}
		g.Eval(s.t.Context(), at)
		for _, r := range g.Rules() {
			if err := r.LastError(); err != nil {
				s.t.Fatalf("%s at %s: rule %s: %v", g.Name(), at, r.Name(), err)
			}
		}
	}
}

// Alerts returns the firing alerts.
func (s *Server) Alerts() []*promrules.Alert {
	var out []*promrules.Alert
	for _, g := range s.groups {
		for _, r := range g.Rules() {
			if ar, ok := r.(*promrules.AlertingRule); ok {
				out = append(out, slices.DeleteFunc(ar.ActiveAlerts(), func(a *promrules.Alert) bool {
					return a.State != promrules.StateFiring
				})...)
			}
		}
	}
	return out
}

// Firing returns the firing alerts, sorted: the name of each with the values of the given
// labels.
func (s *Server) Firing(about ...string) []string {
	var out []string
	for _, a := range s.Alerts() {
		words := []string{a.Labels.Get(labels.AlertName)}
		for _, l := range about {
			if v := a.Labels.Get(l); v != "" {
				words = append(words, v)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	slices.Sort(out)
	return out
}

// Query evaluates an expression at a time and returns the values by series.
func (s *Server) Query(expr string, at time.Time) map[string]float64 {
	s.t.Helper()
	q, err := s.Engine.NewInstantQuery(s.t.Context(), s.Storage, nil, expr, at)
	if err != nil {
		s.t.Fatal(err)
	}
	defer q.Close()
	v, err := q.Exec(s.t.Context()).Vector()
	if err != nil {
		s.t.Fatalf("%s: %v", expr, err)
	}
	out := make(map[string]float64, len(v))
	for _, sample := range v {
		out[sample.Metric.String()] = sample.F
	}
	return out
}
