package answers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// healthy draws a distance that noise alone causes.
func healthy(r *rand.Rand) float64 { return 0.01 * math.Exp(0.5*r.NormFloat64()) }

func distances(r *rand.Rand, n int, draw func(*rand.Rand) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = draw(r)
	}
	return out
}

// TestFalseAlarmsAreAsRareAsPromised simulates many healthy rounds, with a new reference every
// 500 rounds and a limit of one false alarm in 1,000 rounds.
func TestFalseAlarmsAreAsRareAsPromised(t *testing.T) {
	const rounds, perFalse = 20_000, 1000
	for name, draw := range map[string]func(*rand.Rand) float64{
		"noise":                  healthy,
		"a server without noise": func(*rand.Rand) float64 { return 0.0003 },
		"random ties":            func(r *rand.Rand) float64 { return 0.05 * float64(r.IntN(3)) },
		"heavy tails":            func(r *rand.Rand) float64 { return 0.01 / math.Sqrt(r.Float64()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			alarms := 0
			for seen := 0; seen < rounds; seen += 500 {
				d := newDetector(distances(r, Rounds-centreRounds, draw), perFalse)
				d.random = r
				for range 500 {
					if d.add(draw(r)); d.changed {
						alarms++
						d.restart(false)
					}
				}
			}
			if t.Logf("%d alarms in %d rounds", alarms, rounds); alarms > rounds/perFalse {
				t.Errorf("%d alarms in %d healthy rounds, want at most %d", alarms, rounds, rounds/perFalse)
			}
		})
	}
}

// TestAChangeIsFoundAndOver uses the limit of one false alarm a year at one round in five minutes.
func TestAChangeIsFoundAndOver(t *testing.T) {
	const year = 105_120
	r := rand.New(rand.NewPCG(7, 8))
	for _, known := range []int{0, 288} {
		d := newDetector(distances(r, Rounds-centreRounds, healthy), year)
		for range known {
			d.add(healthy(r))
		}
		rounds := 0
		for ; !d.changed && rounds < 100; rounds++ {
			d.add(20 * healthy(r))
		}
		if t.Logf("%d rounds before: found after %d", known, rounds); rounds > 20 || d.score() != 1 {
			t.Errorf("after %d healthy rounds a change was found after %d, score %v", known, rounds, d.score())
		}
		for range 500 { // a change does not become normal
			d.add(20 * healthy(r))
		}
		if !d.changed {
			t.Error("the detector forgot a change that lasts")
		}
		for rounds = 0; d.changed && rounds < 200; rounds++ {
			d.add(0.01)
		}
		if rounds != nearbyEnd || d.score() != 0 {
			t.Errorf("the change ended after %d rounds, score %v", rounds, d.score())
		}
	}
}

func TestABetIsFair(t *testing.T) {
	const n = 1_000_000
	sum := 0.0
	for i := range n {
		sum += bet((float64(i) + 0.5) / n)
	}
	if mean := sum / n; mean > 1 || mean < 0.85 { // the sum misses the part below 1/n
		t.Errorf("the mean bet is %v", mean)
	}
}
