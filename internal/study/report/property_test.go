package report

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"synthetic/internal/sketch"
	"synthetic/internal/study/runs"
	"synthetic/tools/testkit/reporttest"
)

// randomRun makes a run of one or two variants whose levels may be short, distorted by the
// prober, not reached, given up, without a second token, or empty.
func randomRun(seed uint64) *runs.Run {
	rng := rand.New(rand.NewPCG(seed, 27))
	o := reporttest.Options{Seed: seed}
	for _, name := range []string{"a", "b"}[:1+rng.IntN(2)] {
		o.Variants = append(o.Variants, reporttest.Variant{Name: name, Slowdown: 0.4 + 1.8*rng.Float64(), Limit: 60 * float64(rng.IntN(3))})
	}
	for _, level := range []float64{2, 4, 8, 16, 40, 80, 100, 120} {
		if rng.IntN(2) == 0 {
			o.Levels = append(o.Levels, level)
		}
	}
	if o.Levels == nil {
		o.Levels = []float64{8}
	}
	run := reporttest.Run(o)
	oneToken, nothingJudged, short := rng.IntN(6) == 0, rng.IntN(10) == 0, rng.IntN(3) == 0
	for i := range run.Results {
		r := &run.Results[i]
		if short {
			r.Snapshots = r.Snapshots[:1]
			r.Snapshots[0].Blocks = r.Snapshots[0].Blocks[:1+rng.IntN(4)]
		}
		spoil(rng, r, oneToken, nothingJudged)
	}
	judge := runs.NewJudge(run)
	for i := range run.Results {
		if r := &run.Results[i]; r.Verdict == nil {
			r.Verdict = judge.Conclude(run, *r)
		}
	}
	return run
}

// spoil changes a level in one of several ways, or not.
func spoil(rng *rand.Rand, r *runs.Result, oneToken, nothingJudged bool) {
	kind := rng.IntN(10)
	if nothingJudged {
		kind = rng.IntN(3)
	}
	for i := range r.Snapshots {
		s := &r.Snapshots[i]
		held := r.Level
		if kind == 0 {
			held *= 0.5
		}
		s.ConversationsMean = &held
		for j := range s.Blocks {
			b := &s.Blocks[j]
			if oneToken {
				delete(b.SLOs, "tpot")
			}
			switch kind {
			case 1:
				b.NotJudged = b.TurnsStarted
			case 2:
				*b = runs.Block{Seconds: b.Seconds}
			case 3: // late, but not too late for the SLOs
				b.AddedTTFT = &sketch.Sketch{}
				b.AddedTTFT.Add(0.3)
			}
		}
	}
	if kind == 4 {
		r.State, r.Why = runs.EndedEarly, "the queue grows"
		r.Verdict = &runs.LevelVerdict{Standing: runs.Missed}
	}
}

// TestReportsAgreeWithThemselves checks what must hold for a report of any run.
func TestReportsAgreeWithThemselves(t *testing.T) {
	count := uint64(200)
	if testing.Short() {
		count = 16
	}
	seen := map[string]int{}
	for seed := range count {
		run := randomRun(seed)
		s := FromRun(run)
		d := documentOf(t, s)
		say := func(format string, args ...any) {
			t.Helper()
			t.Errorf("seed %d: "+format, append([]any{seed}, args...)...)
		}
		for i, series := range s.Series {
			c := capacityOf(s, series, true)
			checkCapacity(say, s, i, c)
			seen[c.Sentence(s.LevelKind())]++
		}
		checkGate(say, s)
		checkShifts(say, s)
		if n := len(d.Verdict); n < 2 || n > 3 || !strings.HasPrefix(d.Verdict[n-1], "Next: ") {
			say("the verdict has no next step, or more than three sentences: %q", d.Verdict)
		}
		checkNothingEmpty(say, d)
	}
	if len(seen) < 4 {
		t.Errorf("the runs have too few kinds of capacities: %v", seen)
	}
}

type complaint func(format string, args ...any)

// checkCapacity: a capacity and its end come from proven levels only. The matrix says PASS or FAIL by the measured
// figures, or why a level is not judged.
func checkCapacity(say complaint, s *Study, i int, c capacity) {
	standing := func(at float64) runs.Standing {
		l, _ := s.Series[i].Level(at)
		return Judge(s.Objectives, l).Standing
	}
	if c.Meets != nil && standing(c.Meets.At) != runs.Met || c.Fails != nil && standing(c.Fails.At) != runs.Missed {
		say("the capacity %s has bounds that are not proven", c.Sentence(s.LevelKind()))
	}
	for _, l := range s.Series[i].Levels {
		v, text := Judge(s.Objectives, l), matrixWords(s.Objectives, l)
		if l.NotReached != "" && !v.Unjudged() {
			say("level %g was not reached and is %s", l.At, text)
		}
		if v.Unjudged() && (v.Met || v.Lost != nil || text == "NOT JUDGED") {
			say("level %g is not judged, and says %+v", l.At, v)
		}
		if !v.Unjudged() && !matrixForm.MatchString(text) || strings.HasSuffix(text, "~") != (!v.Unjudged() && v.Standing == runs.Undecided) {
			say("level %g says %s, and is %s", l.At, text, v.Standing)
		}
	}
	if !c.Judged() && c.Sentence(s.LevelKind()) != "not known" {
		say("nothing was judged, and the capacity is %s", c.Sentence(s.LevelKind()))
	}
}

var matrixForm = regexp.MustCompile(`^(PASS( \([^)]*\))?|FAIL \([A-Z+ ]+\))( ~)?$`)

// checkGate: the gate states the same capacity, and nothing judged passes nothing.
func checkGate(say complaint, s *Study) {
	conditions, err := ParseConditions("capacity<1")
	if err != nil {
		say("%v", err)
		return
	}
	for i, o := range checkConditions(s, conditions) {
		c := capacityOf(s, s.Series[len(s.Series)-1-i], true)
		if c.Judged() && !strings.Contains(o.Detail, "capacity: "+c.Sentence(s.LevelKind())) || !c.Judged() && o.Result != GateInconclusive {
			say("the gate says %q (%d), the report %s", o.Detail, o.Result, c.Sentence(s.LevelKind()))
		}
	}
}

var shift = regexp.MustCompile(`from concurrency (\S+) to concurrency (\S+)\.$`)

// checkShifts: both ends of a shift are levels that were measured without a fault.
func checkShifts(say complaint, s *Study) {
	for i, line := range shifts(s) {
		m := shift.FindStringSubmatch(line)
		for j, series := range []Series{s.Series[0], s.Series[i+1]} {
			at, _ := strconv.ParseFloat(m[j+1], 64)
			if l, ok := series.Level(at); !ok || unsound(l) != "" {
				say("%s: level %g of %s proves nothing", line, at, series.Name)
			}
		}
	}
}

// checkNothingEmpty: no section is without content.
func checkNothingEmpty(say complaint, d document) {
	for i, section := range d.Sections {
		heads := !section.Sub && i+1 < len(d.Sections) && d.Sections[i+1].Sub
		filled := func(b block) bool {
			return b.Paragraph != "" || len(b.List) > 0 || b.Code != "" || b.Table != nil && len(b.Table.Rows) > 0
		}
		if !heads && !slices.ContainsFunc(section.Blocks, filled) {
			say("section %q is empty", section.Title)
		}
	}
}

// TestNoChange: a change that rounds to 0 is neither better nor noise.
func TestNoChange(t *testing.T) {
	base, other := level(1, map[Metric]float64{TPOTP50: 50}), level(1, map[Metric]float64{TPOTP50: 49.99})
	if got := compareFigures(TPOTP50, base, other).String(); got != "0%" {
		t.Errorf("a change that rounds to 0: %q", got)
	}
}
