package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
	"synthetic/tools/testkit/reporttest"
)

// recalled makes a run whose levels have judged answers: 30 blocks of 20. wrong is the share of wrong ones.
func recalled(wrong map[float64]float64, objectives ...slo.Objective) *runs.Run {
	run := &runs.Run{
		Origin: runs.Origin{Format: runs.Format, Title: "Answers", Generated: reporttest.Noon()},
		Method: runs.Method{LevelKind: runs.Concurrency, Repetitions: 1}, Variants: []string{"chat"},
		SLOs: objectives, Confidence: 0.95,
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, level := range []float64{10, 40, 80, 100} {
		share, ok := wrong[level]
		if !ok {
			continue
		}
		s := runs.Snapshot{Started: reporttest.Noon(), Seconds: 300}
		for range 30 {
			var n runs.Recalled
			for range 20 {
				switch {
				case rng.IntN(4) == 0:
					n.Right++
				case rng.Float64() < share*4/3:
					n.Wrong++
				default:
					n.Right++
				}
			}
			s.Blocks = append(s.Blocks, runs.Block{
				Seconds: 10, SLOs: map[string]runs.Judged{"correct": {Good: n.Right, Bad: n.Wrong}}, Recall: n,
			})
		}
		run.Results = append(run.Results, runs.Result{
			Variant: "chat", Level: level, Repetition: 1, State: runs.Complete, Started: reporttest.Noon(), Ended: reporttest.Noon().Add(5 * time.Minute),
			Snapshots: []runs.Snapshot{s},
		})
	}
	judge := runs.NewJudge(run)
	for i := range run.Results {
		run.Results[i].Verdict = judge.Conclude(run, run.Results[i])
	}
	return run
}

func studyOf(run *runs.Run) *Study { return FromRun(run) }

var correct = slo.Objective{Name: "correct", SLI: slo.Correct, Objective: 0.99}

// TestWrongAnswersComeFirst: the first finding says from which level answers are wrong, the capacity by the SLO is below
// it, and the gate fails.
func TestWrongAnswersComeFirst(t *testing.T) {
	wrong := map[float64]float64{10: 0, 40: 0, 80: 0.06, 100: 0.3}
	s := studyOf(recalled(wrong, correct))
	const headline = "At concurrency 80 and 100, answers of chat are wrong: 29.8% (26.2–33.7) at concurrency 100, against 0.0% (0.0–0.6) at concurrency 10."
	if got := answerFindings(s); len(got) != 1 || got[0] != headline {
		t.Errorf("findings %q, want %q", got, headline)
	}
	d := documentOf(t, s)
	if d.Verdict[0] != headline || len(d.Verdict) != 3 || d.Picture.File != "correct_pct.svg" || d.Class != classBad {
		t.Errorf("verdict %q, picture %s", d.Verdict, d.Picture.File)
	}
	if text := rendered(t, s); !strings.Contains(text, "### Right Answers\n") || !strings.Contains(text, "| Concurrency | Right answers | Foreign answers |") {
		t.Errorf("the report:\n%s", text)
	}
	for condition, want := range map[string]GateResult{"correct<99%": GateFailed, "correct@40<99%": gatePassed, "correct@10<99.5%": GateInconclusive, "correct<50%": gatePassed, "foreign_answers>0": gatePassed} {
		conditions, err := ParseConditions(condition)
		if err != nil {
			t.Fatal(err)
		}
		if got, summary := CheckGate(s, conditions); got != want {
			t.Errorf("%s: %v, want %v\n%s", condition, got, want, summary)
		}
	}
}

// TestFindingsOfAnswers: levels that are as wrong as the lowest one are no finding, gaps are named, and one foreign
// answer is enough.
func TestFindingsOfAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		wrong map[float64]float64
		want  string
	}{
		"none":       {map[float64]float64{10: 0, 40: 0, 80: 0}, ""},
		"everywhere": {map[float64]float64{10: 0.3, 40: 0.3, 80: 0.3}, ""},
		"better":     {map[float64]float64{10: 0.3, 40: 0}, ""},
		"one level":  {map[float64]float64{10: 0.1}, ""},
		"a gap":      {map[float64]float64{10: 0, 40: 0.1, 80: 0, 100: 0.1}, "At concurrency 40 and 100, answers of chat are wrong: "},
		"not as bad": {map[float64]float64{10: 0, 40: 0.1, 80: 0.002}, "At concurrency 40, answers of chat are wrong: "},
	} {
		got := strings.Join(answerFindings(studyOf(recalled(tt.wrong))), "\n")
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	run := recalled(map[float64]float64{10: 0, 40: 0})
	run.Results[1].Tail = &runs.Block{Recall: runs.Recalled{Foreign: 1}}
	if got := answerFindings(studyOf(run)); len(got) != 1 || got[0] != "1 answer of chat had text of another conversation, at concurrency 40." {
		t.Errorf("findings %q", got)
	}
	other := studyOf(recalled(map[float64]float64{10: 0.1, 40: 0.1}))
	other.Series[0].Name = "kv"
	two := studyOf(recalled(map[float64]float64{10: 0, 40: 0}))
	two.Series = append(two.Series, other.Series[0])
	if got := answerFindings(two); len(got) != 1 || !strings.HasPrefix(got[0], "Answers of kv are wrong more often than those of chat: ") || !strings.HasSuffix(got[0], " against 0.0% (0.0–0.6) at concurrency 10.") {
		t.Errorf("two variants: %q", got)
	}
	if slices.Reverse(two.Series); answerFindings(two) != nil {
		t.Errorf("a better variant: %q", answerFindings(two))
	}
}

// risingAnswers are the numbers of answers of a sweep whose levels double for an equal time.
var risingAnswers = []int{20, 40, 80, 160, 320, 640, 1280, 2560}

// TestFewAnswersAtTheLowestLevel: the lower levels prove that answers were right, although the lowest one has too few.
func TestFewAnswersAtTheLowestLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	base, other := Series{Name: "chat"}, Series{Name: "kv"}
	for i, answers := range risingAnswers {
		share := 0.0
		if i == len(risingAnswers)-1 {
			share = 0.05
		}
		base.Levels = append(base.Levels, randomLevel(rng, float64(i+1), share, 4, answers))
		other.Levels = append(other.Levels, randomLevel(rng, float64(i+1), 0.2, 4, answers))
	}
	got := answerFindings(&Study{Kind: runs.Concurrency, Series: []Series{base, other}})
	if len(got) != 2 || !strings.HasPrefix(got[0], "At concurrency 8, answers of chat are wrong: ") || !strings.HasSuffix(got[0], " against 0.0% (0.0–0.3) at concurrency 7.") ||
		!strings.HasPrefix(got[1], "Answers of kv are wrong more often than those of chat: ") {
		t.Errorf("findings %q", got)
	}
}

// TestFalseFindings: levels with one share of wrong answers are called worse in at most 1 report of 100, whether
// answers are independent or the four answers of a conversation, in neighbouring blocks, are wrong together. Longer
// bursts are only reported.
func TestFalseFindings(t *testing.T) {
	studies, rng := 1000, rand.New(rand.NewPCG(3, 3))
	if testing.Short() {
		studies = 50
	}
	for _, answers := range [][]int{slices.Repeat([]int{600}, 8), risingAnswers} {
		for _, share := range []float64{0.002, 0.02, 0.2, 0.6} {
			for _, together := range []int{1, 4, 12} {
				rises, differs := 0, 0
				for range studies {
					s := &Study{Series: make([]Series, 2)}
					for i := range s.Series {
						for at, n := range answers {
							s.Series[i].Levels = append(s.Series[i].Levels, randomLevel(rng, float64(at+1), share, together, n))
						}
					}
					if worseAnswers(s, s.Series[0]) != "" {
						rises++
					}
					if worseThanBaseline(s, s.Series[1]) != "" {
						differs++
					}
				}
				t.Logf("%d answers, share %g, %d together: %d rise and %d differ of %d", answers, share, together, rises, differs, studies)
				if most := studies/100 + 3*max(studies/1000, 1); together <= 4 && max(rises, differs) > most {
					t.Errorf("%d answers, share %g, %d together: %d rise and %d differ of %d, at most %d", answers, share, together, rises, differs, studies, most)
				}
			}
		}
	}
}

// randomLevel has 30 blocks. As many answers as together says are wrong or right together; they lie in neighbouring
// blocks.
func randomLevel(rng *rand.Rand, at, share float64, together, answers int) Level {
	blocks := make([]runs.Pair, 30)
	for range answers / together {
		start, right := rng.IntN(len(blocks)-together+1), rng.Float64() >= share
		for i := range together {
			blocks[start+i].Whole++
			if right {
				blocks[start+i].Part++
			}
		}
	}
	r := runs.EstimateShare([][]runs.Pair{blocks})
	return Level{At: at, Figures: map[Metric]Figure{CorrectPct: Figure{Value: r.Value, Low: r.Low, High: r.High, N: uint64(answers)}.times(100)}}
}

// TestWrongShare: the share of wrong answers and that of right ones, which stand beside each other, are 100 % together.
func TestWrongShare(t *testing.T) {
	for want, f := range map[string]Figure{
		"24.4% (21.0–27.9)": {Value: 75.58, Low: 72.08, High: 78.97},
		"0.1% (0.0–0.6)":    {Value: 99.97, Low: 99.44, High: 99.98},
	} {
		if got := wrongShare(Level{Figures: map[Metric]Figure{CorrectPct: f}}); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}
