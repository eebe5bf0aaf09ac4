package sweep

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate"
	"synthetic/internal/slo"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/report"
)

// TestSessionFigures sweeps conversations of two turns of 0.29 s with a pause of a second between them, and reads their
// figures from the report.
func TestSessionFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		plan := small()
		plan.Workload.TurnsMin, plan.Workload.TurnsMax = 2, 2
		plan.Workload.ThinkMin, plan.Workload.ThinkMax = time.Second, time.Second
		plan.Levels, plan.WarmUp.Duration, plan.Measure = []float64{2}, 2*time.Second, Measure{Snapshots: 1, Snapshot: 20 * time.Second}
		dir := t.TempDir()
		if _, err := Run(t.Context(), Options{Plan: plan, Dir: dir, Dial: net.Dial}); err != nil {
			t.Fatal(err)
		}
		s, err := figures.Read(filepath.Join(dir, "run.json"))
		if err != nil {
			t.Fatal(err)
		}
		files, err := report.Files(s, false)
		if err == nil {
			err = report.Write(dir, files)
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "report.md")); err != nil || !strings.Contains(string(text), "## Appendix: Sessions") || !strings.Contains(string(text), "tools, users or other agents") {
			t.Errorf("the report has no table of sessions (%v)", err)
		}
		if s, err = figures.Read(filepath.Join(dir, "report.json")); err != nil {
			t.Fatal(err)
		}
		l := s.Series[0].Levels[0]
		const session, turn, first = 1580.0, 290.0, 100.0
		for m, want := range map[figures.Metric]float64{
			figures.SessionsEnded: 12, figures.SessionsCut: 0, figures.SessionP50: session, figures.SessionFailedPct: 0, figures.SessionTurns: 2,
			figures.SessionOutput: 40, figures.SessionPrompt: 2 * l.Value(figures.PromptTokensPerSecond) / l.Value(figures.TurnsPerSecond),
			figures.SessionFirstToken: 100 * 2 * first / session, figures.SessionAnswerPct: 100 * 2 * (turn - first) / session,
			figures.SessionBetweenTurns: 100 * 1000 / session, figures.SessionCachedPct: l.Value(figures.KVHitRatePct),
		} {
			if got := l.Value(m); math.Abs(got-want) > 0.05*want {
				t.Errorf("%s = %g, want about %g", m, got, want)
			}
		}
	})
}

// TestSessionsAreTheCapacity sweeps a deployment that serves one turn at a time, for 100 ms. Six sessions of three turns
// at a time last 1.8 s each, seven last 2.1 s.
func TestSessionsAreTheCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		o := quick()
		o.Engine = &single{}
		defer net.serve(t, "a", simulate.New(o))()
		plan := small()
		plan.Workload.TurnsMin, plan.Workload.TurnsMax = 3, 3
		plan.SLOs = []slo.Objective{{Name: "session", SLI: slo.Session, Threshold: 2 * time.Second, Objective: 0.9}}
		plan.Levels, plan.WarmUp.Duration, plan.Measure = []float64{2, 40}, 5*time.Second, Measure{Snapshots: 1, Snapshot: 30 * time.Second}
		for _, search := range []bool{false, true} {
			dir := t.TempDir()
			run, err := Run(t.Context(), Options{Plan: plan, Dir: dir, Dial: net.Dial, FindCapacity: search})
			if err != nil {
				t.Fatal(err)
			}
			c := run.Capacities[0]
			if c.Level == nil || c.Missed == nil || *c.Level > 6 || *c.Missed < 7 {
				t.Fatalf("search %v: %s", search, c.Sentence("concurrency"))
			}
			s, err := figures.Read(filepath.Join(dir, "run.json"))
			if err != nil {
				t.Fatal(err)
			}
			l, _ := s.Series[0].Level(*c.Level)
			perMinute := 60 * l.Value(figures.TurnsPerSecond) / 3
			if got := l.Value(figures.SessionGoodput); math.Abs(got-perMinute) > 0.1*perMinute {
				t.Errorf("search %v: %g sessions a minute within the SLO, want about %g", search, got, perMinute)
			}
			conditions, err := report.ParseConditions("session_p95@40>2s, sessions_within_slo_per_min<1")
			if err != nil {
				t.Fatal(err)
			}
			if got, summary := report.CheckGate(s, conditions); got != report.GateFailed {
				t.Errorf("search %v: result %d\n%s", search, got, summary)
			}
		}
	})
}
