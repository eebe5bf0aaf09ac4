package siblings

import "math"

// failing detects a failing replica with a CUSUM of the log likelihood ratio of failing most
// turns against failing as often as its siblings. Without a fault it crosses a limit h once in
// at least e^h turns (Lorden 1971).
type failing struct {
	sum float64
	// since is the step of the first failure that counts, last that of the last turn.
	since, last int64
	tally
}

// tally holds decaying numbers of failed turns and of all turns.
type tally struct{ failed, turns float64 }

const (
	// sick is the assumed share of failed turns of a failing replica; usuallyLeast and
	// usuallyMost bound that of its siblings.
	sick, usuallyLeast, usuallyMost = 0.6, 0.01, 0.4
	// forgetTurns is the time constant of tally, in turns.
	forgetTurns = 20
	// lasting is the number of steps for which a replica must fail.
	lasting = 12
	// unheard is the number of steps without a turn after which nothing is known.
	unheard = 30
)

// observe adds a turn. siblings is the share of failed turns of its siblings, limit the sum
// that pages.
func (f *failing) observe(failed bool, siblings, limit float64, at int64) {
	usual := min(max(siblings, usuallyLeast), usuallyMost)
	gain := math.Log((1 - sick) / (1 - usual))
	if failed {
		gain = math.Log(sick / usual)
	}
	if f.sum == 0 && failed {
		f.since = at
	}
	f.sum = min(max(0, f.sum+gain), 1.5*limit)
	f.count(failed, at)
}

// count adds a turn that cannot be judged.
func (f *failing) count(failed bool, at int64) {
	f.last = at
	f.turns += 1 - f.turns/forgetTurns
	f.failed -= f.failed / forgetTurns
	if failed {
		f.failed++
	}
}

// score returns how near it is to a page.
func (f *failing) score(at int64, limit float64) float64 {
	if f.sum == 0 || at-f.last >= unheard {
		return 0
	}
	score := f.sum / limit
	if at-f.since < lasting {
		return min(score, 0.99)
	}
	return score
}

// share returns the share of failed turns; NaN without turns.
func (t tally) share() float64 { return t.failed / t.turns }
