package replay

import (
	"fmt"
	"math/rand/v2"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
	"synthetic/internal/simulate/cluster"
)

// bench is an open loop of single requests. The prompts of a trace are sent in turn: first prime
// of them to fill the cache, then those of the warm-up, then the measured ones.
type bench struct {
	arrival  workload.Arrival // without its rate
	requests int              // measured requests per rate
	prime    int
	warmUp   fleet.WarmUp
	prompts  []trace.Turn
	answer   length // of prompts without a recorded length
	seed     uint64
}

// run measures one rate, in requests per second.
func (o bench) run(c *cluster.Cluster, rate float64) (LevelFigures, error) {
	if len(o.prompts) == 0 || !(rate > 0) {
		return LevelFigures{}, fmt.Errorf("replay: %d prompts at rate %v: give at least one prompt and more than 0 requests per second", len(o.prompts), rate)
	}
	l := &benchLoop{bench: o, cluster: c, rand: rand.New(rand.NewPCG(o.seed, 0x62656e6368))}
	for range o.prime {
		if _, err := l.phase(1, 1, o.seed); err != nil {
			return LevelFigures{}, err
		}
	}
	if _, err := l.phase(o.warmUp.Conversations, o.warmUp.Rate, o.seed+1); err != nil {
		return LevelFigures{}, err
	}
	c.Advance(c.Now()+o.warmUp.Cooldown, nil)
	return l.phase(o.requests, rate, o.seed)
}

// LevelFigures are the measurements of one level.
type LevelFigures struct {
	Figures
	// The rest is measured at rates only. Gap is the time between two events of an answer.
	Gap Quantiles
	// MaxConcurrent is the largest number of requests in flight.
	MaxConcurrent int
}

type benchLoop struct {
	bench
	cluster *cluster.Cluster
	rand    *rand.Rand
	sent    uint64

	base     uint64 // id of the phase's first request
	turns    []turn
	last     []time.Duration // times of each request's events
	gaps     []float64
	inFlight int
	peak     int
}

// idBits is the number of low bits of a request's id that count the requests of one rate.
const idBits = 20

// phase sends n requests at a rate and waits until they end.
func (l *benchLoop) phase(n int, rate float64, seed uint64) (LevelFigures, error) {
	l.base, l.turns, l.last = l.sent, make([]turn, 0, n), make([]time.Duration, n)
	l.gaps, l.inFlight, l.peak = l.gaps[:0], 0, 0
	begin := l.cluster.Now()
	arrival := l.arrival
	arrival.Rate = rate
	schedule := workload.NewSchedule(arrival, seed, 0)
	for range n {
		l.cluster.Advance(begin+schedule.Next(), l.handle)
		if err := l.send(); err != nil {
			return LevelFigures{}, err
		}
	}
	for l.inFlight > 0 {
		at, _ := l.cluster.Next()
		l.cluster.Advance(at, l.handle)
	}
	f := window(l.turns, begin-1, l.cluster.Now())
	return LevelFigures{Figures: f, Gap: quantiles(l.gaps), MaxConcurrent: l.peak}, nil
}

// send submits the next request now.
func (l *benchLoop) send() error {
	prompt := l.prompts[l.sent%uint64(len(l.prompts))]
	text := recorded(prompt, l.seed)
	output := prompt.Output
	if output == 0 {
		output = l.answer.draw(l.rand)
	}
	l.turns = append(l.turns, turn{Conversation: len(l.turns), Sent: l.cluster.Now(), Prompt: text.Tokens})
	l.inFlight++
	l.peak = max(l.peak, l.inFlight)
	err := l.cluster.Submit(l.cluster.Now(), cluster.Request{
		ID: l.seed<<idBits | l.sent, Prompt: text.Tokens, Output: output, Chain: text.Chain,
	})
	if err != nil {
		return fmt.Errorf("request %d of a rate: %w", len(l.turns), err)
	}
	l.sent++
	return nil
}

// handle processes an event of the cluster.
func (l *benchLoop) handle(e cluster.Event) {
	i := e.ID&(1<<idBits-1) - l.base
	t := &l.turns[i]
	if e.Kind == cluster.Tokens {
		if t.Output > 0 {
			l.gaps = append(l.gaps, (e.At - l.last[i]).Seconds())
		}
		l.last[i] = e.At
	}
	if t.observe(e) {
		l.inFlight--
	}
}
