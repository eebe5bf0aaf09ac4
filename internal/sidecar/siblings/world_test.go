package siblings

import (
	"fmt"
	"math"
	"math/rand/v2"

	"synthetic/internal/probe"
)

// world describes a simulated service. The values are logarithms of times. The daily variation is
// common to all replicas, everything else is independent.
type world struct {
	replicas int
	// rate is the number of conversations per second and replica; each has three turns.
	rate float64
	// spread is the standard deviation of single turns. wander is that of a replica's level, which
	// changes within about wanders seconds.
	spread, wander, wanders float64
	// old is how much slower the first replica always is.
	old float64
	// hits is the share of prompts whose prefix is cached, skew its variation among replicas. Other
	// prompts take ten times as long. reported is true if the usage contains the cached tokens.
	hits, skew float64
	reported   bool
	// tails is the share of turns that take up to fifty times as long.
	tails float64
	// queue is the load of the queue in front of each replica at noon, 0 for none.
	queue float64
	// restarts is the number of restarts of each replica per day. It fails for a minute, and is
	// then three times as slow for three minutes.
	restarts float64
}

// state is the state of a world at a step.
type state struct {
	world
	rng  *rand.Rand
	g    *group
	all  []*replica
	at   int64
	wan  []float64
	wait []float64
	down []int64 // step of the last restart
	// slower is how much slower each replica is, failing the share of its turns that fail.
	slower, failing []float64
}

func (w world) begin(seed uint64) *state {
	s := &state{
		world: w, rng: rand.New(rand.NewPCG(seed, 15)), g: newGroup(firstStep), at: firstStep,
		wan: make([]float64, w.replicas), wait: make([]float64, w.replicas), down: make([]int64, w.replicas),
		slower: make([]float64, w.replicas), failing: make([]float64, w.replicas),
	}
	for i := range w.replicas {
		m := newReplica(replicaID{target: fmt.Sprint(i)}, 0)
		s.g.replicas[m.replicaID] = m
		s.all = append(s.all, m)
		s.wan[i] = w.wander * s.rng.NormFloat64()
	}
	return s
}

// poisson draws from a Poisson distribution with a small mean.
func (s *state) poisson(mean float64) (n int) {
	for p := s.rng.ExpFloat64(); p < mean; p += s.rng.ExpFloat64() {
		n++
	}
	return n
}

// step simulates one step and compares the replicas.
func (s *state) step() {
	s.at++
	day := float64(s.at-hour) / 8640 * 2 * math.Pi
	common := 0.4 * math.Sin(day)
	for i, m := range s.all {
		if kept := math.Exp(-10 / max(s.wanders, 1)); s.wander > 0 {
			s.wan[i] = kept*s.wan[i] + s.wander*math.Sqrt(1-kept*kept)*s.rng.NormFloat64()
		}
		if s.restarts > 0 && s.rng.Float64() < s.restarts/8640 {
			s.down[i] = s.at
		}
		level := common + s.wan[i] + s.slower[i]
		if i == 0 {
			level += s.old
		}
		since := s.at - s.down[i]
		down, cold := s.down[i] > 0 && since < 6, s.down[i] > 0 && since < 24
		if cold {
			level += math.Log(3)
		}
		s.serve(i, m, level, common, down, cold)
	}
	s.g.compareUntil(s.at + 1)
}

// serve simulates the turns of a replica in one step.
func (s *state) serve(i int, m *replica, level, common float64, down, cold bool) {
	s.queueing(i, common+s.slower[i])
	for kind, rate := range []float64{s.rate, 2 * s.rate} {
		for range s.poisson(rate * 10) {
			r := probe.Result{Kind: probe.TurnKinds()[kind], Outcome: probe.Success}
			if down || s.rng.Float64() < s.failing[i] {
				r.Outcome = probe.ConnectError
				s.g.addTurn(m, &r, [signals]probe.Opt[float64]{}, s.at)
				continue
			}
			ttft := math.Log(0.3) + level + s.spread*s.rng.NormFloat64()
			if kind == 1 {
				ttft -= 0.7
			}
			if s.hits > 0 {
				hit := s.hits + s.skew*(2*float64(i)/float64(s.replicas-1)-1)
				if cold {
					hit = 0
				}
				miss := s.rng.Float64() > hit
				if miss {
					ttft += math.Log(10)
				}
				if s.reported {
					r.PromptTokens, r.CachedTokens = probe.Some(1000), probe.Some(0)
					if !miss {
						r.CachedTokens = probe.Some(900)
					}
				}
			}
			if s.rng.Float64() < s.tails {
				ttft += s.rng.Float64() * math.Log(50)
			}
			if s.queue > 0 {
				ttft = math.Log(math.Exp(ttft) + s.wait[i]*s.rng.ExpFloat64())
			}
			tpot := math.Log(0.03) + 0.3*level + 0.7*s.slower[i] + 0.3*s.spread*s.rng.NormFloat64()
			s.g.addTurn(m, &r, [signals]probe.Opt[float64]{probe.Some(ttft), probe.Some(tpot)}, s.at)
		}
	}
}

// queueing simulates the requests of other clients in one step. Sixteen are served at a time, and
// their service times have a heavy tail. wait is the work in the queue.
func (s *state) queueing(i int, load float64) {
	if s.queue == 0 {
		return
	}
	work := 0.0
	for range s.poisson(160 * s.queue * math.Exp(0.5*(load-0.4))) {
		work += math.Min(0.4*math.Pow(1-s.rng.Float64(), -1/1.8), 60) / 0.9
	}
	s.wait[i] = max(0, s.wait[i]+(work-160)/16)
}

// pages simulates days and returns the number of pages that begin.
func (s *state) pages(days float64) (n int) {
	up := make([]bool, len(s.all))
	for end := s.at + int64(days*8640); s.at < end; {
		s.step()
		for i, m := range s.all {
			if m.paging && !up[i] {
				n++
			}
			up[i] = m.paging
		}
	}
	return n
}

// named simulates until a replica pages, or for at most maxSteps. It returns the seconds, and
// whether the right replica paged first.
func (s *state) named(bad int, maxSteps int64) (seconds int64, right bool) {
	for begin := s.at; s.at < begin+maxSteps; {
		s.step()
		for i, m := range s.all {
			if m.paging {
				return 10 * (s.at - begin), i == bad
			}
		}
	}
	return 10 * maxSteps, false
}
