package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"synthetic/internal/slo"
)

// blockShare gives a block its share of bad turns from standard normal AR(1) noise. The mean
// over all noise is the allowed share.
type blockShare func(allowed, noise float64) float64

// slowBlocks are bad where a log-normal latency is above its objective. The given part of the
// variance of its logarithm belongs to the block.
func slowBlocks(part float64) blockShare {
	return func(allowed, noise float64) float64 {
		threshold := distuv.UnitNormal.Quantile(1 - allowed)
		return distuv.UnitNormal.CDF((math.Sqrt(part)*noise - threshold) / math.Sqrt(1-part))
	}
}

// burstyBlocks have a log-normal share of bad turns.
func burstyBlocks(sigma float64) blockShare {
	return func(allowed, noise float64) float64 {
		return min(allowed*math.Exp(sigma*noise-sigma*sigma/2), 1)
	}
}

// atTheEdge simulates repetitions of a level whose true share of bad turns is the allowed one.
func atTheEdge(rng *rand.Rand, share blockShare, repetitions, blocks, turns int, correlation, allowed float64) []Turns {
	all := make([]Turns, repetitions)
	for i := range all {
		noise := rng.NormFloat64()
		var tallies []Judged
		for range blocks {
			noise = correlation*noise + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
			bad := uint64(distuv.Binomial{N: float64(turns), P: share(allowed, noise), Src: rng}.Rand())
			tallies = append(tallies, Judged{Good: uint64(turns) - bad, Bad: bad})
		}
		all[i] = Turns{"ttft": tallies}
	}
	return all
}

// TestWrongProofs counts how often a level at the edge of its objective, where each proof that
// it meets it is an error, is proven to meet it with a confidence of 95 %. The proofs are as safe as
// they say where blocks are nearly independent. With a correlation of 0.8 a level moves for a sixth of
// its time in one direction, which ten batches do not show.
func TestWrongProofs(t *testing.T) {
	levels, turnsPerBlock, allowedShares := 1500, []int{20, 60, 150}, []float64{0.01, 0.05, 0.1}
	if testing.Short() { // make test-long runs all
		levels, turnsPerBlock, allowedShares = 1000, []int{60}, []float64{0.05}
	}
	noises := []struct {
		name  string
		share blockShare
	}{
		{"5 % of the variance between blocks", slowBlocks(0.05)},
		{"20 % of the variance between blocks", slowBlocks(0.2)},
		{"bursts of σ 0.25", burstyBlocks(0.25)},
		{"bursts of σ 0.5", burstyBlocks(0.5)},
	}
	for i, shape := range []struct{ repetitions, blocks int }{{1, 30}, {3, 10}, {3, 30}} {
		for _, c := range []struct{ correlation, most float64 }{{0, 0.08}, {0.25, 0.10}, {0.5, 0.13}, {0.8, 0.23}} {
			t.Run(fmt.Sprintf("%d of %d blocks, correlation %g", shape.repetitions, shape.blocks, c.correlation), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(20261124, uint64(1000*i)+uint64(100*c.correlation)))
				worst := 0.0
				for _, noise := range noises {
					for _, turns := range turnsPerBlock {
						for _, allowed := range allowedShares {
							j := Judge{Objectives: []slo.Objective{{Name: "ttft", Objective: 1 - allowed}}, Confidence: 0.95}
							wrong := 0
							for range levels {
								if j.JudgeTurns(atTheEdge(rng, noise.share, shape.repetitions, shape.blocks, turns, c.correlation, allowed)...).Standing == Met {
									wrong++
								}
							}
							share := float64(wrong) / float64(levels)
							worst = max(worst, share)
							if share > c.most {
								t.Errorf("%s, %d turns a block, %g allowed: %.1f %% wrong, want at most %g %%", noise.name, turns, allowed, 100*share, 100*c.most)
							}
						}
					}
				}
				t.Logf("worst: %.1f %% wrong", 100*worst)
			})
		}
	}
}
