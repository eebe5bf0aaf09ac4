package cause

import (
	"math"
	"time"
)

// split finds out which part of the line of usual TTFTs has moved while recent turns are slower: the base, which is queue
// and network, or the seconds per token, which are prefill. A larger base slows turns with few uncached tokens most, and
// slower prefill those with many.
type split struct {
	newest [splitKept]splitTurn // a ring
	next   int
}

// splitTurn is a turn. ln is the logarithm of its TTFT over its usual TTFT, prefill the share of its tokens in the
// usual TTFT.
type splitTurn struct {
	at          int64 // Unix seconds, 0 for no turn
	ln, prefill float32
}

const (
	// At most splitKept turns of the last recentSpan are compared, and at least splitLeast.
	splitKept, splitLeast = 32, 12
	// splitShare is the least mean share of prefill in the usual TTFT: a smaller one says nothing about prefill.
	splitShare = 0.2
	// splitProof is by how much one part must explain the turns better than the other, as the logarithm of a
	// likelihood ratio: by chance, about 1 of 20 is as large.
	splitProof = 3
	// splitRise is the least mean rise, as a ratio.
	splitRise = 1.1
)

func (s *split) add(t splitTurn) {
	s.newest[s.next] = t
	s.next = (s.next + 1) % splitKept
}

// slower returns Queue or Prefill, whichever explains the turns until now, and "" if neither is proven. It compares the
// likelihoods of the better factor for each, with errors of a Laplace distribution, which tolerates outliers.
func (s *split) slower(now time.Time) Part {
	var turns []splitTurn
	rise, share := 0.0, 0.0
	for _, t := range s.newest {
		if t.at > 0 && now.Unix()-t.at < int64(recentSpan.Seconds()) {
			turns, rise, share = append(turns, t), rise+float64(t.ln), share+float64(t.prefill)
		}
	}
	n := float64(len(turns))
	if n < splitLeast || rise/n < math.Log(splitRise) || share/n < splitShare {
		return ""
	}
	queue := leastError(turns, func(t splitTurn) float64 { return 1 - float64(t.prefill) })
	prefill := leastError(turns, func(t splitTurn) float64 { return float64(t.prefill) })
	switch proof := n * math.Log(queue/prefill); {
	case proof > splitProof:
		return Prefill
	case proof < -splitProof:
		return Queue
	}
	return ""
}

// leastError returns the smallest sum of absolute errors if one part of each turn takes the same factor longer.
func leastError(turns []splitTurn, part func(splitTurn) float64) float64 {
	least := math.Inf(1)
	for added := 0.1; added < 200; added *= 1.15 {
		sum := 1e-9
		for _, t := range turns {
			sum += math.Abs(float64(t.ln) - math.Log1p(added*part(t)))
		}
		least = min(least, sum)
	}
	return least
}
