package siblings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// world is a service of replicas as a prober sees it: the logarithms of what its
// turns take. What varies with the hour is common to all; the rest is each one's own.
type world struct {
	replicas int
	// rate is of conversations per second and replica, of three turns each.
	rate float64
	// spread is the standard deviation of single turns, wander that of a replica's
	// level, which forgets within wanders seconds.
	spread, wander, wanders float64
	// old is by how much the first replica is slower for good.
	old float64
	// hits is the share of prompts that find their prefix, and skew by how much it
	// differs from replica to replica; misses take ten times as long. told says that
	// usage tells them apart.
	hits, skew float64
	told       bool
	// tails are the share of turns that take up to fifty times as long.
	tails float64
	// queue is the load of the queue in front of each replica at noon, 0 for none.
	queue float64
	// restarts is how many each replica has in a day: it fails for a minute, and is
	// then cold, three times as slow, for three.
	restarts float64
}

// state is a world at a time.
type state struct {
	world
	rng  *rand.Rand
	g    *group
	of   []*replica
	at   int64
	wan  []float64
	wait []float64
	down []int64 // step of the last restart
	// slower is by how much each replica is, and failing the share of its turns.
	slower, failing []float64
}

// promised is what a configuration promises that says nothing.
func promised() sink.Siblings {
	return sink.Siblings{FalsePages: 0.5, Ratio: 1.5, WarmUp: 5 * time.Minute}
}

func (w world) begin(seed uint64) *state {
	s := &state{
		world: w, rng: rand.New(rand.NewPCG(seed, 15)), g: newGroup(first), at: first,
		wan: make([]float64, w.replicas), wait: make([]float64, w.replicas), down: make([]int64, w.replicas),
		slower: make([]float64, w.replicas), failing: make([]float64, w.replicas),
	}
	s.g.policy, s.g.leastDifference = promised(), sink.DefaultPolicy().LeastDifference
	for i := range w.replicas {
		m := newReplica(name{target: fmt.Sprint(i)}, 0)
		s.g.replicas[m.name] = m
		s.of = append(s.of, m)
		s.wan[i] = w.wander * s.rng.NormFloat64()
	}
	return s
}

// poisson draws a small number.
func (s *state) poisson(mean float64) (n int) {
	for p := s.rng.ExpFloat64(); p < mean; p += s.rng.ExpFloat64() {
		n++
	}
	return n
}

// step plays ten seconds, and compares.
func (s *state) step() {
	s.at++
	day := float64(s.at-hour) / 8640 * 2 * math.Pi
	common := 0.4 * math.Sin(day)
	for i, m := range s.of {
		if keep := math.Exp(-10 / max(s.wanders, 1)); s.wander > 0 {
			s.wan[i] = keep*s.wan[i] + s.wander*math.Sqrt(1-keep*keep)*s.rng.NormFloat64()
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
	s.g.pass(s.at + 1)
}

// serve plays the turns of a replica in ten seconds.
func (s *state) serve(i int, m *replica, level, common float64, down, cold bool) {
	s.queueing(i, common+s.slower[i])
	for kind, rate := range []float64{s.rate, 2 * s.rate} {
		for range s.poisson(rate * 10) {
			r := probe.Result{Kind: probe.TurnKinds()[kind], Outcome: probe.Success}
			if down || s.rng.Float64() < s.failing[i] {
				r.Outcome = probe.ConnectError
				s.g.take(m, &r, [signals]probe.Opt[float64]{}, s.at)
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
				if s.told {
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
			s.g.take(m, &r, [signals]probe.Opt[float64]{probe.Some(ttft), probe.Some(tpot)}, s.at)
		}
	}
}

// queueing lets the others' requests of ten seconds come and go, sixteen at a time:
// what waits is the work of a queue whose requests have a heavy tail.
func (s *state) queueing(i int, more float64) {
	if s.queue == 0 {
		return
	}
	work := 0.0
	for range s.poisson(160 * s.queue * math.Exp(0.5*(more-0.4))) {
		work += math.Min(0.4*math.Pow(1-s.rng.Float64(), -1/1.8), 60) / 0.9
	}
	s.wait[i] = max(0, s.wait[i]+(work-160)/16)
}

// pages plays days and counts the pages that begin.
func (s *state) pages(days float64) (n int) {
	up := make([]bool, len(s.of))
	for end := s.at + int64(days*8640); s.at < end; {
		s.step()
		for i, m := range s.of {
			if m.up && !up[i] {
				n++
			}
			up[i] = m.up
		}
	}
	return n
}

// named plays until the first replica that is slower pages, in seconds, or another
// one does, or too long passes.
func (s *state) named(bad int, most int64) (seconds int64, right bool) {
	for begin := s.at; s.at < begin+most; {
		s.step()
		for i, m := range s.of {
			if m.up {
				return 10 * (s.at - begin), i == bad
			}
		}
	}
	return 10 * most, false
}
