package siblings

import (
	"math"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// Turns are compared within strata: by kind of turn, by whether the prompt was cached, and by
// signal.
const (
	kinds   = len(sink.Figures{})
	signals = len(sink.Figures{}[0]) // as sink.Signals
	strata  = kinds * 2 * signals
)

// maxDistance bounds the distance of a turn from the level of all, in logarithms.
const maxDistance = 2.0

func stratumOf(turn *probe.Result, signal int) int {
	cached := 0
	if 2*turn.CachedTokens.V > turn.PromptTokens.V {
		cached = 1
	}
	return (turn.Kind.Index()*2+cached)*signals + signal
}

// replicaID identifies a replica in its group.
type replicaID struct{ target, worker string }

// replica is one target, or one worker behind a front door.
type replica struct {
	replicaID
	strata [strata]*history
	// A replica is cold after a start and is judged from the step judgedFrom on. previousStart is
	// that step of its previous start: only two cold starts in an hour are excused.
	judgedFrom, previousStart int64
	unanswered                int
	// recent is its part of group.recent.
	recent   decayingCounts
	lastTurn int64
	failing  failing
	// score is the current score. A page ends if endScore is low.
	score, endScore float64
	paging          bool
	// total divided by weight is the mean distance behind the exported ratios.
	total, weight [kinds][signals]float64
}

func newReplica(id replicaID, judgedFrom int64) *replica {
	return &replica{replicaID: id, judgedFrom: judgedFrom, lastTurn: judgedFrom}
}

func (r *replica) addTurn(turn *probe.Result, values [signals]probe.Opt[float64], g *group, at int64) {
	r.lastTurn = at
	if at < r.judgedFrom {
		return
	}
	for i, v := range values {
		if !v.OK {
			continue
		}
		k := stratumOf(turn, i)
		x := v.V
		if level := g.noise[k].level; level.OK {
			x = min(max(x, level.V-maxDistance), level.V+maxDistance)
		}
		if r.strata[k] == nil {
			r.strata[k] = &history{}
		}
		r.strata[k].add(at, x)
	}
}

// judge begins or ends a page. It begins at a score of 1. It ends when the shorter windows show
// less than half of it, or have no turns.
func (r *replica) judge(at int64, limit float64) {
	failing := r.failing.score(at, limit)
	r.score = max(r.score, failing)
	switch {
	case !r.paging && r.score >= 1:
		r.paging = true
	case r.paging && max(r.endScore, failing) < 0.5:
		r.paging, r.score = false, 0
		r.forgetTurns()
	}
	if r.paging {
		r.score = max(r.score, 1)
	}
}

func (r *replica) restart(judgedFrom int64) {
	r.previousStart, r.judgedFrom, r.failing.sum = r.judgedFrom, judgedFrom, 0
	r.forgetTurns()
}

// forgetTurns clears the windows, because the long ones still contain the past. It keeps the
// learned lasting differences.
func (r *replica) forgetTurns() {
	for k, h := range r.strata {
		if h != nil {
			r.strata[k] = &history{lasting: h.lasting}
		}
	}
}

func (r *replica) resetComparison() {
	r.score, r.endScore = 0, 0
	r.total, r.weight = [kinds][signals]float64{}, [kinds][signals]float64{}
}

func (r *replica) ratios() (out [kinds][signals]probe.Opt[float64]) {
	for k := range out {
		for i := range out[k] {
			if weight := r.weight[k][i]; weight > 0 {
				out[k][i] = probe.Some(math.Exp(r.total[k][i] / weight))
			}
		}
	}
	return out
}

// failing detects a failing replica with a CUSUM of the log likelihood ratio of failing most
// turns against failing as often as its siblings. Without a fault it crosses a limit h once in
// at least e^h turns (Lorden 1971).
type failing struct {
	sum float64
	// since is the step of the first failure in sum, last the step of the last turn.
	since, last int64
	decayingCounts
}

// decayingCounts holds decaying numbers of failed turns and of all turns.
type decayingCounts struct{ failed, turns float64 }

const (
	// failingShare is the assumed share of failed turns of a failing replica; minHealthy and
	// maxHealthy bound the share of its siblings.
	failingShare, minHealthy, maxHealthy = 0.6, 0.01, 0.4
	// decayTurns is the time constant of decayingCounts, in turns.
	decayTurns = 20
	// minFailingSteps is for how many steps a replica must fail before it pages.
	minFailingSteps = 12
	// failingExpiry is the number of steps without a turn after which a replica's failures no
	// longer count.
	failingExpiry = 30
)

// observe adds a turn. siblings is the share of failed turns of its siblings, limit the sum that
// pages.
func (f *failing) observe(failed bool, siblings, limit float64, at int64) {
	healthyShare := min(max(siblings, minHealthy), maxHealthy)
	gain := math.Log((1 - failingShare) / (1 - healthyShare))
	if failed {
		gain = math.Log(failingShare / healthyShare)
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
	f.turns += 1 - f.turns/decayTurns
	f.failed -= f.failed / decayTurns
	if failed {
		f.failed++
	}
}

// score returns the sum as a share of the limit.
func (f *failing) score(at int64, limit float64) float64 {
	if f.sum == 0 || at-f.last >= failingExpiry {
		return 0
	}
	score := f.sum / limit
	if at-f.since < minFailingSteps {
		return min(score, 0.99)
	}
	return score
}

func (c decayingCounts) share() probe.Opt[float64] {
	if c.turns == 0 {
		return probe.Opt[float64]{}
	}
	return probe.Some(c.failed / c.turns)
}
