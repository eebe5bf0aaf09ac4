package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"synthetic/internal/study/runfile"
)

// conversations simulates a level of conversations of 3 to 5 turns, each some blocks long. A
// part of the variance belongs to the conversation, so its distant turns are correlated.
func conversations(rng *rand.Rand, slots int, turnBlocks, part float64) Series {
	series := make(Series, 30)
	for i := range series {
		series[i].Values = &runfile.Sample{}
	}
	end := float64(len(series))
	for range slots {
		for t := -rng.Float64() * 4 * turnBlocks; t < end; {
			own := rng.NormFloat64()
			for range 3 + rng.IntN(3) {
				t += turnBlocks * (0.8 + 0.4*rng.Float64())
				if t >= 0 && t < end {
					series[int(t)].Values.Add(latency(math.Sqrt(part)*own + math.Sqrt(1-part)*rng.NormFloat64()))
				}
			}
		}
	}
	return series
}

// TestConversationCoverage: neighbouring blocks do not show the correlation of turns that are
// several blocks apart, which costs a little coverage.
func TestConversationCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 3,000 levels; make test-long runs it")
	}
	const runs = 1000
	truth := latency(0)
	for _, tt := range []struct{ turnBlocks, part, least float64 }{
		{4, 0.1, 0.93}, {0.5, 0.3, 0.93}, {4, 0.3, 0.88},
	} {
		rng := rand.New(rand.NewPCG(3, 4))
		covered := 0
		for range runs {
			e := EstimateQuantile(0.5, []Series{conversations(rng, int(60*tt.turnBlocks), tt.turnBlocks, tt.part)}, false)
			if e.Low <= truth && truth <= e.High {
				covered++
			}
		}
		t.Logf("turns of %g blocks, %.0f %% of the variance between conversations: coverage %.1f %%", tt.turnBlocks, 100*tt.part, float64(covered)/runs*100)
		if float64(covered) < tt.least*runs || float64(covered) > 0.97*runs {
			t.Errorf("coverage %d of %d, want %.0f to 97 %%", covered, runs, 100*tt.least)
		}
	}
}
