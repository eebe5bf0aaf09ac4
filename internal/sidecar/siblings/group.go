package siblings

import (
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

const (
	// minReplicas is the number of replicas needed for a comparison, minTurns the number of
	// turns that each of them needs.
	minReplicas, minTurns = 3, 3
	// A replica that appears within warmStart steps after the first turn of its service counts as
	// warm, a later one as cold: it has probably just started.
	warmStart = int64(2 * time.Minute / step)
	// restartTurns is the number of consecutive unanswered turns that may mean a restart.
	restartTurns = 2
	// adaptSteps is the time constant, six hours, of learning a lasting difference. At most
	// maxLasting is learned, so that a factor of three still counts as two.
	adaptSteps = 2160.0
	maxLasting = 0.405
	// earlyLimit is the smallest limit before differences were learned: a factor of two.
	earlyLimit = math.Ln2
	// pageRatio is the smallest ratio to the siblings that pages, as for a regression.
	pageRatio = 1.5
	// falsePages is the accepted number of false pages of all replicas of a service in 30 days.
	falsePages = 0.5
	// warmUp is the time after its start during which a later replica is not judged, because its
	// caches are cold.
	warmUp = 5 * time.Minute
)

// group holds siblings: the targets of a service and workload, or the workers behind one front
// door.
type group struct {
	// share is the group's share of the service's accepted false pages.
	share float64
	// began is the step of the first turn, or 0; at is the last compared step.
	began, at int64
	replicas  map[replicaID]*replica
	noise     [strata]noise

	chances chances
	// recent counts the recent turns of all replicas that have enough; active counts those
	// replicas.
	recent decayingCounts
	active int
}

// sample is a replica in one stratum at one step.
type sample struct {
	*replica
	history *history
	// sums and above, the distance from the median, are by window.
	sums  [windows]sums
	above [windows]float64
}

func newGroup(at int64) *group {
	g := &group{at: at, share: 1, replicas: map[replicaID]*replica{}}
	for k := range g.noise {
		g.noise[k] = newNoise()
	}
	return g
}

func (g *group) compareUntil(now int64) {
	for g.at = max(g.at, now-1-historySteps); g.at < now-1; {
		g.at++
		g.compare()
	}
}

func (g *group) compare() {
	g.chances = newChances(falsePages*g.share, len(g.replicas))
	g.recent, g.active = decayingCounts{}, 0
	for _, r := range g.replicas {
		r.resetComparison()
		r.recent = r.failing.decayingCounts
		if g.at-r.failing.last >= failingExpiry || r.recent.turns < minTurns {
			r.recent = decayingCounts{}
			continue
		}
		g.active++
		g.recent.failed += r.recent.failed
		g.recent.turns += r.recent.turns
	}
	for k := range strata {
		g.compareStratum(k)
	}
	for id, r := range g.replicas {
		r.judge(g.at, g.chances.failing)
		if r.worker != "" && g.at-r.lastTurn > workerExpiry {
			delete(g.replicas, id)
		}
	}
	if g.at%hour == 0 {
		for k := range g.noise {
			for w := range windows {
				g.noise[k].highest[w].endHour()
			}
		}
	}
}

func (g *group) compareStratum(k int) {
	var samples []sample
	for _, r := range g.replicas {
		if s := r.strata[k].windows(g.at); s[windows-1].n > 0 && g.at >= r.judgedFrom {
			samples = append(samples, sample{replica: r, history: r.strata[k], sums: s})
		}
	}
	if len(samples) < minReplicas {
		return
	}
	g.noise[k].learnTurns(samples)
	for w := range windows {
		g.compareWindow(samples, k, w)
	}
	for _, s := range samples {
		n := s.sums[shownWindow].n
		if n < minTurns {
			continue
		}
		s.total[k/4][k%2] += n * s.above[shownWindow]
		s.weight[k/4][k%2] += n
		if !s.paging {
			change := (s.above[shownWindow] - s.history.lasting) / adaptSteps
			s.history.lasting = min(max(s.history.lasting+change, -maxLasting), maxLasting)
		}
	}
}

func (g *group) compareWindow(samples []sample, k, w int) {
	var means, turns []float64
	for _, s := range samples {
		if s.sums[w].n >= minTurns {
			means = append(means, s.sums[w].mean())
		}
	}
	if len(means) < minReplicas {
		return
	}
	middle := baseline.Median(means)
	if w == shownWindow {
		g.noise[k].level = probe.Some(middle)
	}
	var differences []float64
	for i := range samples {
		s := &samples[i]
		if s.sums[w].n < minTurns {
			continue
		}
		s.above[w] = s.sums[w].mean() - middle
		difference := s.above[w] - s.history.lasting
		g.updateScore(s, k, w, difference, middle)
		if !s.paging {
			differences, turns = append(differences, difference), append(turns, s.sums[w].n)
		}
	}
	if len(differences) >= minReplicas {
		g.noise[k].learnDifferences(w, differences, turns)
	}
}

func (g *group) updateScore(s *sample, k, w int, difference, middle float64) {
	limit := max(g.noise[k].limit(w, s.sums[w].n, g.chances), math.Log(pageRatio))
	if g.at-g.began < noiseSteps {
		limit = max(limit, earlyLimit)
	}
	score := difference / limit
	if seconds := math.Exp(middle) * math.Expm1(max(0, s.above[w])); seconds < sink.LeastDifference()[k%2].Seconds() {
		score = min(score, 0.49)
	}
	s.score = max(s.score, score)
	if w == 1 || w == shownWindow {
		s.endScore = max(s.endScore, score)
	}
}

func (g *group) addTurn(r *replica, turn *probe.Result, values [signals]probe.Opt[float64], at int64) {
	if g.began == 0 {
		g.began = at
	}
	failed := turn.Outcome.Failed() && !turn.Outcome.WrongAnswer()
	switch answered := values != [signals]probe.Opt[float64]{}; {
	case failed && !answered && !turn.Outcome.Busy():
		r.unanswered++
	case !failed:
		if r.unanswered >= restartTurns && !r.paging && at-r.previousStart > hour {
			r.restart(g.judgedFrom(at))
		}
		r.unanswered = 0
	case r.unanswered < restartTurns:
		r.unanswered = 0 // the replica has answered
	}
	share := g.siblingsFailed(r)
	switch {
	case turn.Outcome.Busy():
	case share.OK && at >= r.judgedFrom:
		r.failing.observe(failed, share.V, g.chances.failing, at)
	default:
		r.failing.count(failed, at)
	}
	r.addTurn(turn, values, g, at)
}

// judgedFrom returns the step from which on a new replica is judged.
func (g *group) judgedFrom(at int64) int64 {
	if g.began == 0 || at-g.began < warmStart {
		return 0
	}
	return at + int64(warmUp/step)
}

// siblingsFailed returns the share of failed turns of a replica's siblings.
func (g *group) siblingsFailed(r *replica) probe.Opt[float64] {
	others := g.active
	if r.recent.turns > 0 {
		others--
	}
	if others < minReplicas-1 {
		return probe.Opt[float64]{}
	}
	return decayingCounts{max(0, g.recent.failed-r.recent.failed), g.recent.turns - r.recent.turns}.share()
}
