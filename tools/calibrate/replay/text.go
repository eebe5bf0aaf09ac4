package replay

import (
	"math/rand/v2"

	"synthetic/internal/probe/workload/trace"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

// length is a log-normal number of tokens, at most max.
type length struct {
	simulate.Length
	max int
}

func (l length) draw(r *rand.Rand) int { return min(l.Draw(r), l.max) }

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

// recorded returns the text of a recorded prompt. Equal salts and blocks give equal texts.
func recorded(turn trace.Turn, salt uint64) *cluster.Text {
	t := cluster.NewText(0, blockTokens)
	for _, block := range turn.Blocks {
		t = t.Fork(cluster.Mix(salt ^ cluster.Mix(block+1)))
		t.Grow(min(turn.BlockTokens, turn.Prompt-t.Tokens))
	}
	return t
}
