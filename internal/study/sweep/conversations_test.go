package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
	"synthetic/internal/study/runs"
)

// listener stores the messages of every opening turn.
type listener struct {
	http.Handler
	mu       sync.Mutex
	openings []string
	at       []time.Time
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var q struct{ Messages []workload.Message }
		if json.Unmarshal(body, &q) == nil && len(q.Messages) <= 2 && !strings.HasPrefix(q.Messages[0].Content, "[ready") {
			l.mu.Lock()
			l.openings, l.at = append(l.openings, q.Messages[0].Content+q.Messages[len(q.Messages)-1].Content), append(l.at, time.Now())
			l.mu.Unlock()
		}
	}
	l.Handler.ServeHTTP(w, r)
}

// sweepOf runs a plan against a quick deployment in virtual time.
func sweepOf(t *testing.T, plan fleet.Plan) (run *runs.Run, l *listener) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var net network
		l = &listener{Handler: simulate.New(quick())}
		defer net.serve(t, "a", l)()
		var err error
		if run, err = Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial}); err != nil {
			t.Fatal(err)
		}
	})
	return run, l
}

// counted returns the plan of an open-loop benchmark: a separate warm-up, and a number of prompts per rate.
func counted() fleet.Plan {
	p := small()
	p.OpenLoop, p.Levels, p.Arrival = true, []float64{1, 4}, workload.Arrival{Process: workload.Poisson}
	p.Workload.TurnsMin, p.Workload.TurnsMax = 1, 1
	p.WarmUp = fleet.WarmUp{Conversations: 10, Rate: 0.5, Cooldown: 15 * time.Second}
	p.Measure = fleet.Measure{Snapshots: 1, Conversations: 60}
	p.Pause = 30 * time.Second
	return p
}

// TestCountedRates checks the exact numbers of prompts, and the pauses between warm-up, levels and measurement.
func TestCountedRates(t *testing.T) {
	run, l := sweepOf(t, counted())
	if len(l.at) != 2*(10+60) {
		t.Fatalf("%d conversations, want 140", len(l.at))
	}
	for i, level := range []float64{1, 4} {
		r := run.Results[i]
		if r.Level != level || r.State != runs.Complete || len(r.Snapshots) != 1 {
			t.Fatalf("level %g: %s, %d snapshots", r.Level, r.State, len(r.Snapshots))
		}
		s := r.Snapshots[0]
		if n := outcomes(r); n[probe.Success] != 60 || s.ConversationStarts != 60 || r.Tail != nil {
			t.Errorf("level %g: %v, %d starts, tail %v", level, n, s.ConversationStarts, r.Tail)
		}
		if want := 60 / level; s.Seconds < 0.6*want || s.Seconds > 1.6*want {
			t.Errorf("level %g took %g s, want about %g", level, s.Seconds, want)
		}
		at := l.at[i*70:]
		if rest := at[10].Sub(at[9]); rest < 15*time.Second || rest > 16*time.Second {
			t.Errorf("level %g: %s between warm-up and measurement, want the cooldown and a turn", level, rest)
		}
	}
	if rest := l.at[70].Sub(l.at[69]); rest < 30*time.Second || rest > 31*time.Second {
		t.Errorf("%s between the levels, want the pause and a turn", rest)
	}
	if run.WarmUpSeconds != 0 || run.MeasurementSeconds != 0 || run.Conversations != 60 || run.TargetRPS != nil {
		t.Errorf("the run says %+v", run)
	}
}

// TestEqualQuestions: variants get the same questions at the same times, and repetitions get different ones.
func TestEqualQuestions(t *testing.T) {
	plan := counted()
	plan.Levels, plan.WarmUp = []float64{2}, fleet.WarmUp{}
	plan.Repetitions = 2
	second := plan.Variants[0]
	second.Name, second.Target.Name = "b", "b"
	plan.Variants = append(plan.Variants, second)
	run, l := sweepOf(t, plan)
	if len(l.openings) != 240 || len(run.Results) != 4 {
		t.Fatalf("%d conversations, %d results", len(l.openings), len(run.Results))
	}
	same := func(a, b int) bool {
		for i := range 60 {
			if l.openings[60*a+i] != l.openings[60*b+i] || l.at[60*a+i].Sub(l.at[60*a]) != l.at[60*b+i].Sub(l.at[60*b]) {
				return false
			}
		}
		return true
	}
	if !same(0, 1) || !same(2, 3) {
		t.Error("variants are asked differently")
	}
	if same(0, 2) {
		t.Error("repetitions are asked the same")
	}
}

// TestCachePolicies compares how many openings a level shares with the previous one.
func TestCachePolicies(t *testing.T) {
	for policy, want := range map[fleet.CachePolicy]int{fleet.KeepCache: 5, fleet.BustCache: 10} {
		plan := counted()
		plan.Cache.Policy, plan.WarmUp = policy, fleet.WarmUp{}
		_, l := sweepOf(t, plan)
		distinct := map[string]bool{}
		for _, o := range l.openings {
			distinct[o] = true
		}
		// The readiness turns fixed the length of texts, so the five starters stay the same.
		if len(distinct) != want {
			t.Errorf("%s: %d distinct openings in two levels of five starters, want %d", policy, len(distinct), want)
		}
	}
	plan := counted()
	plan.Levels, plan.Workload.Starters = []float64{4}, 0
	if run, _ := sweepOf(t, plan); run.CachePolicy != "" {
		t.Errorf("without a shared text, the policy is %q", run.CachePolicy)
	}
}

// TestUniqueOpeningsAreNewToEveryVariant: two variants may share a cache, which must serve the system message alone.
func TestUniqueOpeningsAreNewToEveryVariant(t *testing.T) {
	plan := counted()
	plan.Levels, plan.WarmUp = []float64{2}, fleet.WarmUp{}
	plan.Workload.Starters, plan.Workload.System = 0, "Be brief."
	second := plan.Variants[0]
	second.Name, second.Target.Name = "b", "b"
	plan.Variants = append(plan.Variants, second)
	_, l := sweepOf(t, plan)
	distinct := map[string]bool{}
	for _, o := range l.openings {
		distinct[o] = true
		if !strings.HasPrefix(o, "Be brief.") {
			t.Fatalf("the system message is not shared: %.80q", o)
		}
	}
	if len(l.openings) != 120 || len(distinct) != 120 {
		t.Errorf("%d conversations, %d different openings, want 120 of both", len(l.openings), len(distinct))
	}
}

// TestResumedLevelIsNewToTheCache stops a level halfway and measures it again: the cache knows none of its texts.
func TestResumedLevelIsNewToTheCache(t *testing.T) {
	plan := counted()
	plan.Levels, plan.Cache.Policy, plan.WarmUp = []float64{4}, fleet.BustCache, fleet.WarmUp{}
	l := &listener{Handler: simulate.New(quick())}
	heard := map[string]bool{}
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", l)()
		o := Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := Run(ctx, o); !errors.Is(err, ErrInterrupted) {
			t.Fatalf("error %v", err)
		}
		synctest.Wait()
		for _, text := range l.openings {
			heard[text] = true
		}
		l.openings = nil
		o.Resume = true
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	})
	if len(heard) == 0 || len(l.openings) != 60 {
		t.Fatalf("%d openings were heard before, %d after, want some and 60", len(heard), len(l.openings))
	}
	for _, text := range l.openings {
		if heard[text] {
			t.Fatalf("heard twice: %.60q", text)
		}
	}
}

// TestPrime runs conversations before the measurement and does not count them.
func TestPrime(t *testing.T) {
	plan := counted()
	plan.Levels, plan.WarmUp = []float64{4}, fleet.WarmUp{}
	plan.Cache = fleet.Cache{Policy: fleet.Prime, Conversations: 7}
	run, l := sweepOf(t, plan)
	if len(l.openings) != 67 || outcomes(run.Results[0])[probe.Success] != 60 {
		t.Errorf("%d conversations, measured %v; want 67 and 60", len(l.openings), outcomes(run.Results[0]))
	}
	if run.CachePolicy != "prime with 7 conversations" {
		t.Errorf("policy %q", run.CachePolicy)
	}
}
