package replay

import (
	"math"
	"math/rand/v2"

	"synthetic/internal/simulate/cluster"
)

// Length is a normal distribution of tokens, bounded by 1 and Max.
type Length struct {
	Mean, Spread float64
	Max          int
}

// draw returns a random length.
func (l Length) draw(r *rand.Rand) int {
	n := int(math.Round(l.Mean + l.Spread*r.NormFloat64()))
	return max(1, min(n, l.Max))
}

// blockTokens is the block size of all presets.
const blockTokens = 16

// openings returns texts of these lengths, which conversations share.
func openings(lengths []int) []*cluster.Text {
	var all []*cluster.Text
	for i, n := range lengths {
		t := cluster.NewText(cluster.Mix(uint64(i)+1), blockTokens)
		t.Grow(n)
		all = append(all, t)
	}
	return all
}
