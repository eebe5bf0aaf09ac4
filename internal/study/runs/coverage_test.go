package runs

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"synthetic/internal/sketch"
)

// process draws the turns of a measurement. at is the place of a turn in it, from 0 to 1.
type process func(rng *rand.Rand) (turn func(at float64) float64)

// latency is log-normal in z, with a median of 0.3.
func latency(z float64) float64 { return 0.3 * math.Exp(0.5*z) }

func steady(rng *rand.Rand) func(float64) float64 {
	return func(float64) float64 { return latency(rng.NormFloat64()) }
}

// remembering turns share a varying level: a part of the variance is a process with a memory of 1/(1−rho) turns.
func remembering(part, rho float64) process {
	return func(rng *rand.Rand) func(float64) float64 {
		level := rng.NormFloat64()
		return func(float64) float64 {
			level = rho*level + math.Sqrt(1-rho*rho)*rng.NormFloat64()
			return latency(math.Sqrt(part)*level + math.Sqrt(1-part)*rng.NormFloat64())
		}
	}
}

// drifting turns become slower by e^0.5 until the end.
func drifting(rng *rand.Rand) func(float64) float64 {
	return func(at float64) float64 { return latency(at + rng.NormFloat64()) }
}

// bursty turns take three times as long in a tenth of the blocks.
func bursty(rng *rand.Rand) func(float64) float64 {
	last, slower := -1.0, 1.0
	return func(at float64) float64 {
		if at != last {
			last, slower = at, 1
			if rng.IntN(10) == 0 {
				slower = 3
			}
		}
		return slower * latency(rng.NormFloat64())
	}
}

// apart are repetitions of which each has a level of its own.
func apart(rng *rand.Rand) func(float64) float64 {
	own := rng.NormFloat64()
	return func(float64) float64 { return latency(0.5*own + rng.NormFloat64()) }
}

// simulate returns the repetitions of a level, in blocks of about perBlock turns.
func simulate(rng *rand.Rand, p process, repetitions, blocks int, perBlock float64) []Series {
	var all []Series
	for range repetitions {
		next := p(rng)
		var series Series
		for i := range blocks {
			b := Distribution{Values: &sketch.Sketch{}}
			for range int(distuv.Poisson{Lambda: perBlock, Src: rng}.Rand()) {
				b.Values.Add(next(float64(i) / float64(blocks)))
			}
			series = append(series, b)
		}
		all = append(all, series)
	}
	return all
}

// TestCoverage counts how often the 95 % interval contains the true quantile, which is that of all simulated levels
// together. A drift is no noise, and widens intervals. A memory as long as a batch, and repetitions that differ,
// cost coverage, because few batches and three repetitions show little of a variance.
func TestCoverage(t *testing.T) {
	levels := 1000
	if testing.Short() {
		levels = 250
	}
	for _, tt := range []struct {
		name        string
		process     process
		repetitions int
		perBlock, q float64
		least, most float64
	}{
		{"steady p50", steady, 1, 20, 0.50, 0.93, 0.99},
		{"steady p95", steady, 1, 20, 0.95, 0.93, 0.99},
		{"steady p99", steady, 1, 50, 0.99, 0.93, 0.99},
		{"steady p50 of 3", steady, 3, 20, 0.50, 0.93, 0.99},
		{"steady p99 of 3", steady, 3, 50, 0.99, 0.93, 0.99},
		{"drifting p50", drifting, 1, 20, 0.50, 0.93, 1},
		{"drifting p95", drifting, 1, 20, 0.95, 0.93, 1},
		{"bursty p50", bursty, 1, 20, 0.50, 0.92, 0.99},
		{"bursty p95", bursty, 1, 20, 0.95, 0.82, 0.99},
		{"bursty p95 of 3", bursty, 3, 20, 0.95, 0.91, 0.99},
		{"memory of 5 turns p50", remembering(0.3, 0.8), 1, 20, 0.50, 0.88, 0.97},
		{"memory of 5 turns p95", remembering(0.3, 0.8), 1, 20, 0.95, 0.91, 0.98},
		{"memory of 20 turns p50", remembering(0.5, 0.95), 1, 20, 0.50, 0.85, 0.96},
		{"memory of 20 turns p50 of 3", remembering(0.5, 0.95), 3, 20, 0.50, 0.90, 0.97},
		{"memory of 20 turns p99 of 3", remembering(0.5, 0.95), 3, 50, 0.99, 0.90, 0.97},
		{"repetitions apart p50 of 3", apart, 3, 20, 0.50, 0.75, 0.95},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, uint64(tt.q*1000)))
			var all []Quantile
			var together []Series
			for range levels {
				level := simulate(rng, tt.process, tt.repetitions, 30, tt.perBlock)
				all, together = append(all, estimate(tt.q, level, false)), append(together, level...)
			}
			pooled := pool(together).Values
			truth := pooled.At(tt.q * float64(pooled.Count()))
			var covered, known, width, effective float64
			for _, e := range all {
				if math.IsNaN(e.Low) || math.IsNaN(e.High) {
					continue
				}
				known++
				if e.Low <= truth && truth <= e.High {
					covered++
				}
				width, effective = width+(e.High-e.Low)/truth, effective+e.Effective
			}
			t.Logf("coverage %.1f %% of %.0f intervals, mean width %.1f %%, %.0f effective turns", 100*covered/known, known, 100*width/known, effective/known)
			slack := 2 * math.Sqrt(0.05*0.95/float64(levels))
			if covered < (tt.least-slack)*known || covered > (tt.most+slack)*known || known < 0.75*float64(levels) {
				t.Errorf("coverage %.1f %% of %.0f intervals, want %g to %g %%", 100*covered/known, known, 100*tt.least, 100*tt.most)
			}
		})
	}
}

// TestShareCoverage does the same for shares of failed turns, independent or in bursts, and for a rate.
func TestShareCoverage(t *testing.T) {
	const levels, blocks, perBlock, truth = 1000, 30, 40, 0.05
	for _, tt := range []struct {
		name  string
		share func(rng *rand.Rand) float64 // of a block
	}{
		{"independent", func(*rand.Rand) float64 { return truth }},
		{"in bursts", func(rng *rand.Rand) float64 { return 6 * truth * float64(rng.IntN(6)/5) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			shares, rates := 0, 0
			for range levels {
				failed, second := make([]Pair, blocks), make([]Pair, blocks)
				for i := range blocks {
					hits := distuv.Binomial{N: perBlock, P: tt.share(rng), Src: rng}.Rand()
					failed[i], second[i] = Pair{hits, perBlock}, Pair{hits, 10}
				}
				if r := EstimateShare([][]Pair{failed}); r.Low <= truth && truth <= r.High {
					shares++
				}
				if r := EstimateRatio([][]Pair{second}); r.Low <= truth*perBlock/10 && truth*perBlock/10 <= r.High {
					rates++
				}
			}
			t.Logf("coverage of the share %.1f %%, of the rate %.1f %%", float64(shares)/levels*100, float64(rates)/levels*100)
			if shares < 0.93*levels || rates < 0.90*levels {
				t.Errorf("coverage of the share %d, of the rate %d of %d", shares, rates, levels)
			}
		})
	}
}

// TestWidthWithFewRepetitions: two or three equal repetitions of a steady rate differ by chance, which rarely makes its
// interval much wider than the rate's own variance does.
func TestWidthWithFewRepetitions(t *testing.T) {
	const levels, blocks, deviation = 1000, 30, 0.2
	for _, repetitions := range []int{2, 3} {
		rng, wide := rand.New(rand.NewPCG(7, 8)), 0
		for range levels {
			all := make([][]Pair, repetitions)
			for i := range all {
				for range blocks {
					all[i] = append(all[i], Pair{1 + deviation*rng.NormFloat64(), 1})
				}
			}
			if r := EstimateRatio(all); r.High-r.Low > 2.5*2*1.96*deviation/math.Sqrt(blocks*float64(repetitions)) {
				wide++
			}
		}
		if wide > levels/50 {
			t.Errorf("%d repetitions: %d of %d intervals are more than 2.5 times as wide as the rate's own variance makes them", repetitions, wide, levels)
		}
	}
}
