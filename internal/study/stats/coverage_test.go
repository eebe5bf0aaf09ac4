package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"synthetic/internal/study/runfile"
)

// process draws turns in order. Their marginal distribution is log-normal with median 0.3 and σ
// = 0.5.
type process func(rng *rand.Rand) func() float64

func latency(z float64) float64 { return 0.3 * math.Exp(0.5*z) }

func independent(rng *rand.Rand) func() float64 {
	return func() float64 { return latency(rng.NormFloat64()) }
}

// autocorrelated turns share a varying level: a part of the variance is an AR(1) process with a
// memory of 1/(1−rho) turns.
func autocorrelated(part, rho float64) process {
	return func(rng *rand.Rand) func() float64 {
		level := rng.NormFloat64()
		return func() float64 {
			level = rho*level + math.Sqrt(1-rho*rho)*rng.NormFloat64()
			return latency(math.Sqrt(part)*level + math.Sqrt(1-part)*rng.NormFloat64())
		}
	}
}

// simulate returns the repetitions of a level, in blocks of about perBlock turns.
func simulate(rng *rand.Rand, p process, repetitions, blocks int, perBlock float64) []Series {
	var all []Series
	for range repetitions {
		next := p(rng)
		var series Series
		for range blocks {
			b := runfile.Distribution{Values: &runfile.Sample{}}
			n := int(distuv.Poisson{Lambda: perBlock, Src: rng}.Rand())
			for range n {
				b.Values.Add(next())
			}
			series = append(series, b)
		}
		all = append(all, series)
	}
	return all
}

// TestCoverage counts how often the 95 % interval contains the true quantile in 1,000 simulated
// levels of 30 blocks, measured once or three times.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 11,000 levels; make test-long runs it")
	}
	for _, tt := range []struct {
		name                string
		process             process
		repetitions, blocks int
		perBlock, q         float64
	}{
		{"independent p50", independent, 1, 30, 20, 0.50},
		{"independent p95", independent, 1, 30, 20, 0.95},
		{"independent p99", independent, 1, 30, 50, 0.99},
		{"independent p50 of 3", independent, 3, 30, 20, 0.50},
		{"independent p99 of 3", independent, 3, 30, 50, 0.99},
		{"memory of 5 turns p50", autocorrelated(0.3, 0.8), 1, 30, 20, 0.50},
		{"memory of 5 turns p95", autocorrelated(0.3, 0.8), 1, 30, 20, 0.95},
		{"memory of 20 turns p50 of 3", autocorrelated(0.5, 0.95), 3, 30, 20, 0.50},
		{"memory of 20 turns p50", autocorrelated(0.5, 0.95), 1, 30, 20, 0.50},
		{"memory of 20 turns p95 of 3", autocorrelated(0.5, 0.95), 3, 30, 20, 0.95},
		{"memory of 20 turns p99 of 3", autocorrelated(0.5, 0.95), 3, 30, 50, 0.99},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const runs = 1000
			truth := latency(distuv.UnitNormal.Quantile(tt.q))
			var covered, known, width, worth, n float64
			rng := rand.New(rand.NewPCG(5, uint64(tt.q*1000)))
			for range runs {
				e := EstimateQuantile(tt.q, simulate(rng, tt.process, tt.repetitions, tt.blocks, tt.perBlock), false)
				if !e.Known() {
					continue
				}
				known++
				if e.Low <= truth && truth <= e.High {
					covered++
				}
				width += (e.High - e.Low) / truth
				worth += e.Effective
				n += float64(e.N)
			}
			coverage := covered / known
			t.Logf("%s: coverage %.1f %%, %.0f intervals of %d, mean width %.1f %%, %.0f turns worth %.0f",
				tt.name, 100*coverage, known, runs, 100*width/known, n/known, worth/known)
			if coverage < 0.93 || coverage > 0.97 || known < 0.9*runs {
				t.Errorf("coverage %.1f %% of %.0f intervals, want 93 to 97 %%", 100*coverage, known)
			}
		})
	}
}

// TestShareCoverage does the same for shares of failed turns, independent or in bursts, and for
// a rate.
func TestShareCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 2,000 levels; make test-long runs it")
	}
	const runs, blocks, perBlock = 1000, 30, 40
	for _, tt := range []struct {
		name  string
		share func(rng *rand.Rand) float64 // of a block
		truth float64
	}{
		{"independent", func(*rand.Rand) float64 { return 0.05 }, 0.05},
		{"in bursts", func(rng *rand.Rand) float64 { return 0.3 * float64(rng.IntN(6)/5) }, 0.05},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			shares, rates := 0, 0
			for range runs {
				failed, second := make([]Pair, blocks), make([]Pair, blocks)
				for i := range blocks {
					p := tt.share(rng)
					hits := distuv.Binomial{N: perBlock, P: p, Src: rng}.Rand()
					failed[i] = Pair{hits, perBlock}
					second[i] = Pair{hits, 10}
				}
				if r := EstimateShare([][]Pair{failed}); r.Low <= tt.truth && tt.truth <= r.High {
					shares++
				}
				if r := EstimateRatio([][]Pair{second}); r.Low <= tt.truth*perBlock/10 && tt.truth*perBlock/10 <= r.High {
					rates++
				}
			}
			t.Logf("coverage of the share %.1f %%, of the rate %.1f %%", float64(shares)/runs*100, float64(rates)/runs*100)
			if shares < 0.93*runs || rates < 0.90*runs {
				t.Errorf("coverage of the share %d, of the rate %d of %d", shares, rates, runs)
			}
		})
	}
}
