package answers

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// logits is a simulated model: the logits of a vocabulary, for each prompt and position.
type logits [][][]float64

const (
	simPrompts, simPlaces, simWords = 8, 8, 40
	// simTokens is the number of tokens of a round with as many real prompts.
	simTokens = 320
	// jitter is the noise that batching adds to each logit of a healthy server.
	jitter = 0.01
)

func newLogits(r *rand.Rand, scale float64) logits {
	m := make(logits, simPrompts)
	for i := range m {
		m[i] = make([][]float64, simPlaces)
		for j := range m[i] {
			m[i][j] = distances(r, simWords, func(r *rand.Rand) float64 { return scale * r.NormFloat64() })
		}
	}
	return m
}

// round returns the answers of a deployment whose logits have the constant error size × off.
func (m logits) round(r *rand.Rand, off logits, size float64) Round {
	round := make(Round, len(m))
	for i := range m {
		for j := range m[i] {
			top := make([]Token, simWords)
			sum := 0.0
			for k := range top {
				x := m[i][j][k] + size*off[i][j][k] + jitter*r.NormFloat64()
				sum += math.Exp(x)
				top[k] = Token{Text: strconv.Itoa(k), Logprob: x}
			}
			for k := range top {
				top[k].Logprob -= math.Log(sum)
			}
			slices.SortFunc(top, func(a, b Token) int { return int(math.Copysign(1, b.Logprob-a.Logprob)) })
			top[0].Others = slices.Clone(top[:5])
			round[i].Tokens = append(round[i].Tokens, top[0])
			round[i].Text += top[0].Text + " "
		}
	}
	return round
}

func (m logits) watch(t *testing.T, r *rand.Rand, off logits) *Watch {
	t.Helper()
	var rounds []Round
	for range Rounds {
		rounds = append(rounds, m.round(r, off, 0))
	}
	ref, err := NewReference(make([]string, simPrompts), rounds)
	if err != nil {
		t.Fatal(err)
	}
	return NewWatch(ref, 5*time.Minute)
}

// TestPowerOnSimulatedLogits measures the table of docs/background/canaries.md: the number of
// rounds until an error of the logits is found, right after recording and a day later, and the
// false alarms in healthy rounds.
func TestPowerOnSimulatedLogits(t *testing.T) {
	runs, healthyRounds := 20, 12_000
	if testing.Short() {
		runs, healthyRounds = 2, 500
	}
	r, now := rand.New(rand.NewPCG(9, 10)), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, size := range []float64{0.005, 0.01, 0.02, 0.05, 0.1} {
		for _, day := range []int{0, 288} {
			var took []int
			for range runs {
				m, off := newLogits(r, 2), newLogits(r, 1)
				w := m.watch(t, r, off)
				for range day {
					w.Compare(m.round(r, off, 0), now)
				}
				n := 1
				for w.Compare(m.round(r, off, size), now).Score < 1 && n < 288 {
					n++
				}
				took = append(took, n)
			}
			slices.Sort(took)
			median, missed := took[runs/2], len(took)-slices.Index(append(took, 288), 288)
			t.Logf("error %.3f, %3d rounds after recording: median %d rounds, %d tokens; %d of %d not within a day", size, day, median, median*simTokens, max(missed, 0), runs)
			if size >= 0.05 && median > 15 {
				t.Errorf("an error of %v was found in %d rounds", size, median)
			}
		}
	}
	alarms := 0
	for seen := 0; seen < healthyRounds; seen += 250 {
		m, off := newLogits(r, 2), newLogits(r, 1)
		w := m.watch(t, r, off)
		for range 250 {
			if w.Compare(m.round(r, off, 0), now).Score >= 1 {
				alarms++
			}
		}
	}
	if t.Logf("%d alarms in %d healthy rounds", alarms, healthyRounds); alarms > 0 {
		t.Errorf("%d alarms in %d healthy rounds, want at most one in 105,120", alarms, healthyRounds)
	}
}
