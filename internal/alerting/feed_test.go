package alerting

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/promql"
)

// rig is a pager that the test drives step by step, with a wall clock that can be stepped.
type rig struct {
	Hand
	t    *testing.T
	now  time.Time
	logs *bytes.Buffer
}

// newRig returns a rig with the given rules.
func newRig(t *testing.T, g prometheus.Gatherer, ruleText string, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), logs: &bytes.Buffer{}}
	o := Options{
		Gatherer: g, Rules: []byte(ruleText),
		Instance: "here", Now: func() time.Time { return r.now }, Logger: slog.New(slog.NewTextHandler(r.logs, nil)),
	}
	if change != nil {
		change(&o)
	}
	r.Hand = Hand{mustNew(t, o)}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// round advances both clocks by one interval.
func (r *rig) round() {
	r.t.Helper()
	r.now = r.now.Add(r.options.Interval)
	r.Round(r.t.Context())
}

// query evaluates an expression now. The keys of the result are the labels of its series.
func (r *rig) query(expr string) map[string]float64 {
	r.t.Helper()
	q, err := r.engine.NewInstantQuery(context.Background(), r.memory, nil, expr, r.clock.now())
	if err != nil {
		r.t.Fatal(err)
	}
	defer q.Close()
	result := q.Exec(context.Background())
	if result.Err != nil {
		r.t.Fatal(result.Err)
	}
	out := map[string]float64{}
	switch v := result.Value.(type) {
	case promql.Vector:
		for _, s := range v {
			out[s.Metric.String()] = s.F
		}
	case promql.Scalar:
		out[""] = v.V
	}
	return out
}

func (r *rig) want(expr string, want map[string]float64) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.query(expr)); diff != "" {
		r.t.Errorf("%s (-want +got):\n%s", expr, diff)
	}
}

// reading returns rules that read the named series and never fire.
func reading(exprs ...string) string {
	var b strings.Builder
	b.WriteString("groups:\n  - name: g\n    rules:\n")
	for _, e := range exprs {
		b.WriteString("      - {alert: A, expr: '" + e + " < -1'}\n")
	}
	return b.String()
}

// TestFeedStoresWhatRulesRead: an annotation may read a series that no expression reads. A reload may read others.
func TestFeedStoresWhatRulesRead(t *testing.T) {
	g := newGauge(t)
	for _, name := range []string{"test_queried", "test_unread"} {
		g.registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "Not in any expression."}))
	}
	g.set(3)
	const query = "{{ with printf `max(test_queried{target=%q})` $labels.target | query }}{{ . }}{{ end }}"
	annotated := strings.Replace(reading("test_up"), "alert: A", "alert: A, annotations: {description: '"+query+"'}", 1)
	r := newRig(t, g.registry, annotated, nil)
	r.round()
	r.want(`{__name__=~"test_.*"}`, map[string]float64{
		`{__name__="test_up", instance="here", job="synthetic", target="a"}`: 3,
		`{__name__="test_queried", instance="here", job="synthetic"}`:        0,
	})
	if err := r.Reload([]byte(reading("test_up", "test_unread"))); err != nil {
		t.Fatal(err)
	}
	r.round()
	r.want(`test_unread`, map[string]float64{`{__name__="test_unread", instance="here", job="synthetic"}`: 0})
}

// TestFeedStale: a removed series ends at once, not after five minutes.
func TestFeedStale(t *testing.T) {
	g := newGauge(t)
	g.set(1)
	r := newRig(t, g.registry, reading("test_up"), nil)
	r.round()
	g.up.Reset()
	r.round()
	r.want(`test_up`, map[string]float64{})
	g.set(2)
	r.round()
	r.want(`test_up`, map[string]float64{`{__name__="test_up", instance="here", job="synthetic", target="a"}`: 2})
}

// TestClockStep steps the wall clock forwards and backwards. The rules see no change, and
// Alertmanagers receive wall times.
func TestClockStep(t *testing.T) {
	const step = 3 * time.Hour
	g := newGauge(t)
	for name, by := range map[string]time.Duration{"forwards": step, "backwards": -step} {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			registry.MustRegister(g.up)
			var r *rig
			registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "seen_timestamp_seconds", Help: "Time."}, func() float64 {
				return float64(r.now.UnixMilli()) / 1e3
			}))
			g.set(1)
			r = newRig(t, registry, `
groups:
  - name: g
    rules:
      - {alert: Waits, expr: test_up > 0, for: 2m}
      - {alert: Old, expr: time() - seen_timestamp_seconds > 60 or time() - seen_timestamp_seconds < -60}
`, nil)
			for range 4 { // a minute
				r.round()
			}
			r.now = r.now.Add(by)
			for range 3 { // less than another
				r.round()
			}
			for _, rule := range r.Groups()[0].AlertingRules() {
				want := map[string]string{"Waits": "pending", "Old": "inactive"}[rule.Name()]
				if got := rule.State().String(); got != want {
					t.Errorf("%s is %s after the step, want %s: %v", rule.Name(), got, want, r.query("time() - seen_timestamp_seconds"))
				}
			}
			for range 4 {
				r.round()
			}
			if n := len(r.states.byID); n != 1 {
				t.Fatalf("%d alerts fire, want 1", n)
			}
			for _, m := range r.states.outgoing("") {
				if ahead := m.EndsAt.Sub(r.now); ahead < validFor-time.Minute || ahead > validFor+time.Minute {
					t.Errorf("the alert ends %v from now, want about %v", ahead, validFor)
				}
			}
		})
	}
}
