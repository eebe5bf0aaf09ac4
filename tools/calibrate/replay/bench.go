package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
)

// Bench is an open loop of single requests at Poisson arrivals: at each rate
// some warm-up requests, a pause, then the requests that are measured. They
// take their prompts from a fixed set of conversations, again and again. The
// next rate begins when all answers are there.
type Bench struct {
	// Prompts is the number of requests measured per rate.
	Prompts int
	// Conversations is the number of different prompts. Each begins with one of
	// the starters, whose lengths are given, and goes on for Rest tokens.
	Conversations int
	Starters      []int
	Rest, Output  Length
	// WarmUp requests come at WarmUpRate per second before each rate.
	WarmUp     int
	WarmUpRate float64
	// Cooldown follows the warm-up, Pause a rate.
	Cooldown, Pause time.Duration
	Seed            uint64
}

// validate returns what is wrong with the benchmark at these rates.
func (o Bench) validate(rates []float64) error {
	if o.Conversations < 1 || len(o.Starters) == 0 {
		return fmt.Errorf("bench: %d conversations from %d starters: give at least one of each", o.Conversations, len(o.Starters))
	}
	for _, r := range append(slices.Clone(rates), o.WarmUpRate) {
		if !(r > 0) {
			return fmt.Errorf("bench: rate is %v: give more than 0 requests per second", r)
		}
	}
	return nil
}

// Run goes through rates, in requests per second, and returns what each
// measured.
func (o Bench) Run(c *cluster.Cluster, rates []float64) ([]BenchFigures, error) {
	if err := o.validate(rates); err != nil {
		return nil, err
	}
	l := &benchLoop{Bench: o, cluster: c, rand: rand.New(rand.NewPCG(o.Seed, 0x62656e6368))}
	starters := openings(o.Starters)
	for i := range o.Conversations {
		t := starters[i%len(starters)].Fork(cluster.Mix(o.Seed ^ cluster.Mix(uint64(i)+1<<32)))
		t.Grow(o.Rest.draw(l.rand))
		l.texts = append(l.texts, t)
	}
	var all []BenchFigures
	for _, rate := range rates {
		if _, err := l.phase(o.WarmUp, o.WarmUpRate); err != nil {
			return nil, err
		}
		c.Advance(c.Now()+o.Cooldown, nil)
		f, err := l.phase(o.Prompts, rate)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
		c.Advance(c.Now()+o.Pause, nil)
	}
	return all, nil
}

// BenchFigures are what the tool reports of one rate.
type BenchFigures struct {
	Figures
	// Gap is the time between two events of an answer.
	Gap Quantiles
	// MaxConcurrent is the most requests in flight.
	MaxConcurrent int
}

type benchLoop struct {
	Bench
	cluster *cluster.Cluster
	rand    *rand.Rand
	texts   []*cluster.Text
	sent    uint64

	base     uint64 // id of the phase's first request
	turns    []Turn
	last     []time.Duration // of each request's events
	gaps     []float64
	inFlight int
	most     int
}

// phase sends requests at a rate and waits for their ends.
func (l *benchLoop) phase(n int, rate float64) (BenchFigures, error) {
	l.base, l.turns, l.last = l.sent+1, make([]Turn, 0, n), make([]time.Duration, n)
	l.gaps, l.inFlight, l.most = l.gaps[:0], 0, 0
	begin := l.cluster.Now()
	for _, at := range l.arrivals(n, rate) {
		l.cluster.Advance(begin+at, l.handle)
		if err := l.send(); err != nil {
			return BenchFigures{}, err
		}
	}
	for l.inFlight > 0 {
		at, _ := l.cluster.Next()
		l.cluster.Advance(at, l.handle)
	}
	f := BenchFigures{Figures: Window(l.turns, begin-1, l.cluster.Now()), Gap: quantiles(l.gaps), MaxConcurrent: l.most}
	return f, nil
}

// arrivals are exponential gaps, stretched so that the last request comes when
// the rate has it.
func (l *benchLoop) arrivals(n int, rate float64) []time.Duration {
	at := make([]float64, n)
	sum := 0.0
	for i := range at {
		sum += l.rand.ExpFloat64()
		at[i] = sum
	}
	times := make([]time.Duration, n)
	for i, t := range at {
		times[i] = time.Duration(t / sum * float64(n) / rate * float64(time.Second))
	}
	return times
}

// send submits a request now.
func (l *benchLoop) send() error {
	t := l.texts[l.rand.IntN(len(l.texts))]
	l.sent++
	l.turns = append(l.turns, Turn{Conversation: len(l.turns), Sent: l.cluster.Now(), Prompt: t.Tokens})
	l.inFlight++
	l.most = max(l.most, l.inFlight)
	err := l.cluster.Submit(l.cluster.Now(), cluster.Request{
		ID: l.sent, Prompt: t.Tokens, Output: l.Output.draw(l.rand), Chain: slices.Clip(t.Chain),
	})
	if err != nil {
		return fmt.Errorf("request %d of a rate: %w", len(l.turns), err)
	}
	return nil
}

// handle takes an event.
func (l *benchLoop) handle(e cluster.Event) {
	i := e.ID - l.base
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
