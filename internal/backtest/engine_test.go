package backtest

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	promrules "github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/teststorage"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/turnlog"
)

// stepRules cover the difficult cases of a replay: a series that ends, a recorded series that
// becomes stale, for, keep_firing_for, and a rule that reads another rule, itself, or one
// that reads it.
const stepRules = `
groups:
  - name: one
    interval: 1m
    rules:
      - record: failing
        expr: sum by (target) (rate(synthetic_turn_failures_total{reason="http_5xx"}[5m])) > 0.01
      - record: ratio
        expr: |-
          2 ^ ((sum by (target, turn) (increase(synthetic_signal_log2_total{signal="ttft"}[10m])) - sum by (target, turn) (increase(synthetic_signal_baseline_log2_total{signal="ttft"}[10m])))
          / sum by (target, turn) (increase(synthetic_signal_turns_total{signal="ttft"}[10m])))
        labels: {kind: recorded}
      # Two sides that are one series, of different steps.
      - record: either
        expr: (synthetic_consecutive_failed_turns > 2) or (0 * synthetic_consecutive_failed_turns)
      # A rule that reads what it recorded before.
      - record: fading
        expr: (synthetic_consecutive_failed_turns > 2) or (0.5 * last_over_time(fading[2m]) > 0.01)
      # Rules that read each other: the first reads what the second recorded before.
      - record: tick
        expr: (synthetic_consecutive_failed_turns > 2) unless last_over_time(tock[2m])
      - record: tock
        expr: tick
      - alert: Tick
        expr: tick
      - alert: Fading
        expr: fading
      - alert: Either
        expr: min_over_time(either[2m]) > 2
      - alert: Failing
        expr: failing
        for: 3m
        keep_firing_for: 4m
      - alert: Gone
        expr: absent(failing)
        for: 1h
      - alert: Worse
        expr: ratio{kind="recorded"} > 1.5
        labels: {severity: page}
`

// TestReplayIsStepByStep compares the replay, which makes one query for many steps, with the
// rule groups of Prometheus, which evaluate each step.
func TestReplayIsStepByStep(t *testing.T) {
	from, to := epoch().Add(48*time.Hour), epoch().Add(62*time.Hour)
	log := turnsWithFaults(t, epoch(), to)
	set, err := loadRules(RuleFile{"steps", []byte(stepRules), RuleOptions{Interval: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Replay(t.Context(), warmedUp(t, log, from), []*RuleSet{set}, from, to)
	if err != nil {
		t.Fatal(err)
	}
	want := stepByStep(t, warmedUp(t, log, from), set.reads(), from, to)
	show := func(spans []Span) (out []string) {
		for _, s := range spans {
			out = append(out, s.Labels.String()+" "+s.From.Format(time.TimeOnly)+" "+s.To.Format(time.TimeOnly))
		}
		return out
	}
	if diff := cmp.Diff(show(want), show(got[0])); diff != "" {
		t.Errorf("rule groups and the replay differ (-groups +replay):\n%s", diff)
	}
	if len(got[0]) < 5 {
		t.Errorf("only %v fired", show(got[0]))
	}
}

// turnsWithFaults returns a log with a turn every ten seconds, an outage after 50 hours
// and turns that are three times as slow after 55 hours.
func turnsWithFaults(t *testing.T, start, end time.Time) *turnlog.Log {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 1))
	var turns []turnlog.Turn
	for at := start; at.Before(end); at = at.Add(10 * time.Second) {
		turn := turnlog.Turn{At: at, Outcome: probe.HTTP5xx, Duration: probe.Some(5 * time.Millisecond)}
		if since := at.Sub(start); since < 50*time.Hour || since >= 50*time.Hour+10*time.Minute {
			ttft := 0.25 * math.Exp(0.3*rng.NormFloat64())
			if since >= 55*time.Hour && since < 56*time.Hour {
				ttft *= 3
			}
			turn.Outcome, turn.Duration = probe.Success, probe.Opt[time.Duration]{}
			turn.TTFT = probe.Some(time.Duration(ttft * float64(time.Second)))
			turn.TPOT, turn.OutputTokens = probe.Some(20*time.Millisecond), probe.Some(48)
		}
		turns = append(turns, turn)
	}
	return openLog(t, turns...)
}

// warmedUp returns a replay of log that has learned its baselines until from.
func warmedUp(t *testing.T, log *turnlog.Log, from time.Time) *turnSource {
	t.Helper()
	survey, err := SurveyTurns(t.Context(), log, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := newTurnSource(log, survey, []sink.Job{survey.Jobs[0].Job(Objectives(), sink.DefaultPolicy())}, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(src.Close)
	if err := src.warmUp(t.Context(), from, func(time.Time) {}); err != nil {
		t.Fatal(err)
	}
	return src
}

// stepByStep evaluates the rules with Prometheus's rule groups and storage.
func stepByStep(t *testing.T, src Source, reads []string, from, to time.Time) []Span {
	t.Helper()
	storage := teststorage.New(t)
	syntax := parser.NewParser(parser.Options{})
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute, Parser: syntax, LookbackDelta: staleAfter})
	t.Cleanup(func() { _ = engine.Close() })
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, []byte(stepRules), 0o600); err != nil {
		t.Fatal(err)
	}
	manager := promrules.NewManager(&promrules.ManagerOptions{
		QueryFunc: promrules.EngineQueryFunc(engine, storage), Appendable: storage, Queryable: storage, Context: t.Context(),
		NotifyFunc: func(context.Context, string, ...*promrules.Alert) {}, Logger: slog.New(slog.DiscardHandler), Parser: syntax,
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, path)
	if errs != nil {
		t.Fatal(errs)
	}
	wanted := map[string]bool{}
	for _, name := range reads {
		wanted[name] = true
	}
	store, seen := NewStore(), newSpanCollector()
	states := map[*promrules.AlertingRule]*rule{}
	for at := from; at.Before(to); at = at.Add(30 * time.Second) {
		if err := src.Advance(t.Context(), store, at, wanted); err != nil {
			t.Fatal(err)
		}
		app := storage.Appender(t.Context())
		for _, s := range store.byHash {
			if last := s.points[len(s.points)-1]; last.T == at.UnixMilli() {
				if _, err := app.Append(0, s.labels, last.T, last.F); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
		if at.Truncate(time.Minute).Equal(at) {
			continue // groups are evaluated at half a minute past
		}
		for _, g := range groups {
			for _, r := range g.Rules() {
				if a, ok := r.(*promrules.AlertingRule); ok {
					a.SetRestored(true)
				}
			}
			g.Eval(t.Context(), at)
			for _, r := range g.Rules() {
				if a, ok := r.(*promrules.AlertingRule); ok {
					if states[a] == nil {
						states[a] = &rule{name: a.Name(), alert: a}
					}
					seen.observe(states[a], at)
				}
			}
		}
	}
	return seen.finish(to)
}
