package siblings

import "math"

// failing follows the failures of a replica, as a CUSUM of the log likelihood ratio
// of failing in most turns to failing as often as the siblings do. It crosses a
// limit h for nothing once in at least e^h turns (Lorden 1971).
type failing struct {
	sum float64
	// since is the step of the first failure of those that it stands on, last that
	// of the last turn.
	since, last int64
	tally
}

// tally are turns that failed and all, which forget over forgetTurns.
type tally struct{ failed, turns float64 }

const (
	// sick is the share of turns that fail of a replica that is sick, and usually at
	// least and at most that of its siblings.
	sick, usuallyLeast, usuallyMost = 0.6, 0.01, 0.4
	// forgetTurns is how many turns the shares stand on.
	forgetTurns = 20
	// lasting is for how many steps it must have failed.
	lasting = 12
	// unheard is after how many steps without a turn nothing is known.
	unheard = 30
)

// observe takes a turn. siblings is the share of theirs that fail, limit that of the
// sum that pages.
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

// count takes a turn that cannot be judged.
func (f *failing) count(failed bool, at int64) {
	f.last = at
	f.turns += 1 - f.turns/forgetTurns
	f.failed -= f.failed / forgetTurns
	if failed {
		f.failed++
	}
}

// score is how near it is to a page.
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

// share of the lately ended turns that failed; NaN without any.
func (t tally) share() float64 { return t.failed / t.turns }
