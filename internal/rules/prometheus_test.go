package rules_test

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	promrules "github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"

	"synthetic/internal/probe/target"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
	"synthetic/tools/testkit/promtest"
)

const (
	scrapeInterval = time.Minute
	// evalDelay separates a scrape from the evaluation after it.
	evalDelay = 10 * time.Second
)

// prometheus is Prometheus's storage, engine and rule manager, with a clock that the test advances.
type prometheus struct {
	t      testing.TB
	now    time.Time
	store  *teststorage.TestStorage
	engine *promql.Engine
	groups []*promrules.Group
	// last are the series of the last scrape, by instance, for their staleness
	// markers.
	last map[string]map[uint64]labels.Labels
	// read names the families that the rules read; the others are not stored.
	read map[string]bool
	// refs speed up appending.
	refs map[uint64]storage.SeriesRef
}

func newPrometheus(t testing.TB, file []byte, start time.Time) *prometheus {
	t.Helper()
	p := &prometheus{
		t: t, now: start, store: teststorage.New(t),
		last: map[string]map[uint64]labels.Labels{}, refs: map[uint64]storage.SeriesRef{},
		read: map[string]bool{},
	}
	for _, m := range slices.Concat(metrics.Catalog(), metrics.PagerCatalog()) {
		p.read[m.Name] = bytes.Contains(file, []byte(m.Name))
	}
	promql := parser.NewParser(parser.Options{})
	p.engine = newEngine(t, promql)
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	m := promrules.NewManager(&promrules.ManagerOptions{
		QueryFunc:  promrules.EngineQueryFunc(p.engine, p.store),
		Appendable: p.store, Queryable: p.store, Context: t.Context(),
		NotifyFunc: func(context.Context, string, ...*promrules.Alert) {},
		Logger:     slog.New(slog.DiscardHandler), Parser: promql,
	})
	groups, errs := m.LoadGroups(scrapeInterval, labels.EmptyLabels(), "", nil, false, path)
	if errs != nil {
		t.Fatal(errs)
	}
	for _, g := range groups {
		p.groups = append(p.groups, g)
		for _, r := range g.Rules() {
			if a, ok := r.(*promrules.AlertingRule); ok {
				a.SetRestored(true)
			}
		}
	}
	slices.SortFunc(p.groups, promtest.InOrderOf(file))
	return p
}

func newEngine(t testing.TB, p parser.Parser) *promql.Engine {
	e := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50e6, Timeout: time.Minute, Parser: p,
		LookbackDelta: 5 * time.Minute, EnableAtModifier: true,
	})
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// scrape stores the series of a prober, none if it is down. Series that are missing since the last scrape
// become stale.
func (p *prometheus) scrape(pr *prober) {
	a := p.store.Appender(p.t.Context())
	seen := map[uint64]labels.Labels{}
	add := func(l labels.Labels, v float64) {
		h := l.Hash()
		seen[h] = l
		ref, err := a.Append(p.refs[h], l, p.now.UnixMilli(), v)
		if err != nil {
			p.t.Fatalf("appending %s at %s: %v", l, p.now, err)
		}
		p.refs[h] = ref
	}
	if !pr.down {
		fams, err := pr.recorder.Only(func(family string) bool { return p.read[family] }).Gather()
		if err != nil {
			p.t.Fatal(err)
		}
		for _, f := range fams {
			expose(f, pr.instance, add)
		}
		if pr.stalled != nil {
			add(named(metrics.PagerStalled, []string{"instance", pr.instance}), *pr.stalled)
		}
	}
	gone := p.last[pr.instance]
	p.last[pr.instance] = seen
	for h, l := range gone {
		if _, ok := seen[h]; !ok {
			add(l, math.Float64frombits(value.StaleNaN))
			delete(seen, h)
		}
	}
	if err := a.Commit(); err != nil {
		p.t.Fatal(err)
	}
}

// expose converts a family to samples as a scrape without native histograms does, except sums and counts of
// histograms, which no rule reads. Each prober has its own cluster.
func expose(f *dto.MetricFamily, instance string, add func(labels.Labels, float64)) {
	base := labels.FromStrings("cluster", "of-"+instance, "instance", instance, "job", "synthetic", "pod", instance)
	wanted := func(series string) bool {
		return !strings.HasSuffix(series, "_sum") && !strings.HasSuffix(series, "_count")
	}
	for _, m := range f.Metric {
		promtest.Each(f.GetName(), m, wanted, func(s promtest.Value) { add(s.Labels(m, base), s.Value) })
	}
}

// evaluate evaluates each group that is due.
func (p *prometheus) evaluate() { p.evaluateOnly("") }

// evaluateOnly evaluates the due groups whose names begin so; "" means all.
func (p *prometheus) evaluateOnly(prefix string) {
	at := p.now.Add(evalDelay)
	for _, g := range p.groups {
		if !strings.HasPrefix(g.Name(), prefix) || p.now.UnixNano()%g.Interval().Nanoseconds() != 0 {
			continue
		}
		g.Eval(p.t.Context(), at)
		for _, r := range g.Rules() {
			if err := r.LastError(); err != nil {
				p.t.Fatalf("%s at %s: rule %s: %v", g.Name(), at, r.Name(), err)
			}
		}
	}
}

// firing lists the firing alerts, each with its name and subject.
func (p *prometheus) firing() []string {
	var out []string
	for _, a := range p.alerts() {
		words := []string{a.Labels.Get(labels.AlertName)}
		for _, l := range []string{"target", "workload", "turn", "slo", "reason", "lag", "instance"} {
			if v := a.Labels.Get(l); v != "" {
				words = append(words, v)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	slices.Sort(out)
	return out
}

// alerts returns the firing alerts.
func (p *prometheus) alerts() []*promrules.Alert {
	var out []*promrules.Alert
	for _, g := range p.groups {
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

// query evaluates an expression now. The keys of the result are the labels of its series.
func (p *prometheus) query(expr string) map[string]float64 {
	p.t.Helper()
	q, err := p.engine.NewInstantQuery(p.t.Context(), p.store, nil, expr, p.now.Add(evalDelay))
	if err != nil {
		p.t.Fatal(err)
	}
	defer q.Close()
	v, err := q.Exec(p.t.Context()).Vector()
	if err != nil {
		p.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, s := range v {
		out[s.Metric.String()] = s.F
	}
	return out
}

// house is a fleet of probers and the Prometheus that watches it.
type house struct {
	*prometheus
	probers []*prober
	clock   time.Time
	records string // how the names of the groups begin that scrapes evaluates
}

func newHouse(t *testing.T, in rules.Input, replicas int) *house {
	t.Helper()
	generated, err := rules.Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	file, err := generated.PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(1_800_000_000, 0).UTC().Truncate(time.Hour)
	h := &house{prometheus: newPrometheus(t, file, start), clock: start, records: "synthetic-slo-rates"}
	for i := range replicas {
		p := &prober{
			instance: "prober-" + strconv.Itoa(i), clock: &h.clock, jobs: in.Jobs,
			configured: sinkJobs(in), share: 1 / float64(replicas), behave: ok,
			due: map[rules.Job]float64{}, turns: map[rules.Job]int{},
		}
		p.restart()
		h.probers = append(h.probers, p)
	}
	return h
}

func sinkJobs(in rules.Input) []sink.Job {
	var out []sink.Job
	for _, r := range in.Jobs {
		j := sink.Job{Objectives: in.SLOs, ServerMetrics: true}
		j.Target = target.Target{Name: r.Target, Model: "m", Connection: target.Reuse, BaseURL: "http://user:secret@gateway:8000/v1?key=secret"}
		j.Workload.Name, j.Workload.Recall, j.Traffic.Rate = r.Workload, 1, r.ConversationsPerMinute/60
		j.Workload.Timeouts.Total = r.TurnTimeout
		out = append(out, j)
	}
	return out
}

// run simulates time: each minute has traffic, then a scrape, then an evaluation.
func (h *house) run(d time.Duration) {
	for range int(d / scrapeInterval) {
		h.passes(scrapeInterval, false)
		h.evaluate()
	}
}

// scrapes simulates time without rules, except for those that long windows read.
func (h *house) scrapes(d time.Duration) { h.passes(d, true) }

func (h *house) passes(d time.Duration, only bool) {
	for range int(d / scrapeInterval) {
		h.now = h.now.Add(scrapeInterval)
		h.clock = h.now
		for _, p := range h.probers {
			p.minute()
			h.scrape(p)
		}
		if only {
			h.evaluateOnly(h.records)
		}
	}
}
