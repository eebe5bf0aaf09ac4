package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
	"synthetic/internal/turnlog"
)

// joined merges the parts of each level, whose clocks are behind, in random order.
func joined(t *testing.T, parts []*runfile.Run, logs [][]turnlog.Turn, behind []time.Duration, rng *rand.Rand) (*runfile.Run, string) {
	t.Helper()
	whole, judge := parts[0], stats.NewJudge(parts[0])
	var turns bytes.Buffer
	for i := range whole.Results {
		r := &whole.Results[i]
		for _, n := range rng.Perm(len(parts)) {
			if n > 0 {
				x := parts[n].Results[i]
				x.Shift(behind[n])
				r.Merge(x)
			}
		}
		var of []partLog
		for n, log := range logs {
			own := slices.DeleteFunc(slices.Clone(log), func(t turnlog.Turn) bool { return t.Study.Level != r.Level })
			of = append(of, partLog{offset: behind[n], next: reader(own)})
		}
		if err := mergeTurns(&turns, of, r); err != nil {
			t.Fatal(err)
		}
		r.Verdict = judge.Conclude(whole, *r)
	}
	whole.Capacities[0] = judge.Capacity("only", whole)
	return whole, turns.String()
}

// TestWhole: however a load is split, and whatever the clocks, the merged run, its turns and
// its report equal those of one process byte for byte.
func TestWhole(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for _, kind := range []runfile.LevelKind{runfile.Concurrency, runfile.Rate} {
			t.Run(fmt.Sprintf("%s in %d", kind, n), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(n), 2))
				m := newModel(uint64(n), kind, true)
				shard := func(x turn) int { return x.slot % n }
				if kind == runfile.Rate {
					of := rng.Perm(len(m.turns[1]))
					shard = func(x turn) int { return of[x.conversation%len(of)] % n }
				}
				behind := make([]time.Duration, n)
				for i := 1; i < n; i++ {
					behind[i] = time.Duration(rng.IntN(2e6)-1e6) * time.Microsecond
				}
				want, ordered := m.run(func(turn) bool { return true }, 0)
				parts, logs := m.split(behind, shard)
				got, turns := joined(t, parts, logs, behind, rng)
				if same(t, want, got); !testing.Short() {
					sameReport(t, want, got)
				}
				if a, b := lines(ordered), strings.Split(turns, "\n"); !slices.Equal(sorted(a), sorted(b)) {
					t.Errorf("%d lines of turns became %d others", len(a), len(b))
				}
			})
		}
	}
}

func lines(turns []turnlog.Turn) []string {
	var b []byte
	for _, t := range turns {
		b = t.Append(b)
	}
	return strings.Split(string(b), "\n")
}

func sorted(lines []string) []string { return slices.Sorted(slices.Values(lines)) }

func same(t *testing.T, want, got *runfile.Run) {
	t.Helper()
	a, err := json.MarshalIndent(want, "", " ")
	b, err2 := json.MarshalIndent(got, "", " ")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("the run differs: %s", firstDifferentLine(string(a), string(b)))
	}
}

func sameReport(t *testing.T, want, got *runfile.Run) {
	t.Helper()
	a, err := report.Files(figures.FromRuns([]*runfile.Run{want}), true)
	b, err2 := report.Files(figures.FromRuns([]*runfile.Run{got}), true)
	if err != nil || err2 != nil || len(a) != len(b) || len(a) < 5 {
		t.Fatalf("%v, %v, %d files against %d", err, err2, len(a), len(b))
	}
	for i := range a {
		if !bytes.Equal(a[i].Data, b[i].Data) {
			t.Errorf("%s differs: %s", a[i].Name, firstDifferentLine(string(a[i].Data), string(b[i].Data)))
		}
	}
}

func firstDifferentLine(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %.300q, of the merge %.300q", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, of the merge %d", len(x), len(y))
}

// TestAnyValues: with arbitrary times, whose sums depend on their order in the last bits, the
// report is still equal byte for byte.
func TestAnyValues(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		m := newModel(seed, runfile.Rate, false)
		n := 2 + rng.IntN(7)
		want, _ := m.run(func(turn) bool { return true }, 0)
		behind := make([]time.Duration, n)
		parts, logs := m.split(behind, func(x turn) int { return (x.conversation*7 + x.conversation/3) % n })
		got, _ := joined(t, parts, logs, behind, rng)
		sameReport(t, want, got)
	}
}
