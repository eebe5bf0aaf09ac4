package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
)

// bench is an open loop of single requests with Poisson arrivals. Each rate has some
// warm-up requests, a pause, and the measured requests. Prompts come from a fixed set of
// conversations, again and again. The next rate starts when all answers have arrived.
type bench struct {
	// Prompts is the number of measured requests per rate.
	Prompts int
	// Conversations is the number of different prompts. Each consists of one of the
	// starters, whose lengths are given, and Rest further tokens.
	Conversations int
	Starters      []int
	Rest, Output  Length
	// WarmUp requests are sent at WarmUpRate per second before each rate.
	WarmUp     int
	WarmUpRate float64
	// Cooldown is the pause after the warm-up, Pause the pause after a rate.
	Cooldown, Pause time.Duration
	Seed            uint64
}

// validate checks the benchmark and the rates.
func (o bench) validate(rates []float64) error {
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

// Run measures each of the rates, in requests per second.
func (o bench) Run(c *cluster.Cluster, rates []float64) ([]benchFigures, error) {
	if err := o.validate(rates); err != nil {
		return nil, err
	}
	l := &benchLoop{bench: o, cluster: c, rand: rand.New(rand.NewPCG(o.Seed, 0x62656e6368))}
	starters := openings(o.Starters)
	for i := range o.Conversations {
		t := starters[i%len(starters)].Fork(cluster.Mix(o.Seed ^ cluster.Mix(uint64(i)+1<<32)))
		t.Grow(o.Rest.draw(l.rand))
		l.texts = append(l.texts, t)
	}
	var all []benchFigures
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

// benchFigures are the measurements of one rate.
type benchFigures struct {
	Figures
	// Gap is the time between two events of an answer.
	Gap Quantiles
	// MaxConcurrent is the largest number of requests in flight.
	MaxConcurrent int
}

type benchLoop struct {
	bench
	cluster *cluster.Cluster
	rand    *rand.Rand
	texts   []*cluster.Text
	sent    uint64

	base     uint64 // id of the phase's first request
	turns    []Turn
	last     []time.Duration // times of each request's events
	gaps     []float64
	inFlight int
	peak     int
}

// phase sends n requests at a rate and waits until they end.
func (l *benchLoop) phase(n int, rate float64) (benchFigures, error) {
	l.base, l.turns, l.last = l.sent+1, make([]Turn, 0, n), make([]time.Duration, n)
	l.gaps, l.inFlight, l.peak = l.gaps[:0], 0, 0
	begin := l.cluster.Now()
	for _, at := range l.arrivals(n, rate) {
		l.cluster.Advance(begin+at, l.handle)
		if err := l.send(); err != nil {
			return benchFigures{}, err
		}
	}
	for l.inFlight > 0 {
		at, _ := l.cluster.Next()
		l.cluster.Advance(at, l.handle)
	}
	f := benchFigures{Figures: Window(l.turns, begin-1, l.cluster.Now()), Gap: quantiles(l.gaps), MaxConcurrent: l.peak}
	return f, nil
}

// arrivals returns start times with exponential gaps, scaled so that the last request
// matches the rate.
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
	l.peak = max(l.peak, l.inFlight)
	err := l.cluster.Submit(l.cluster.Now(), cluster.Request{
		ID: l.sent, Prompt: t.Tokens, Output: l.Output.draw(l.rand), Chain: slices.Clip(t.Chain),
	})
	if err != nil {
		return fmt.Errorf("request %d of a rate: %w", len(l.turns), err)
	}
	return nil
}

// handle processes an event of the cluster.
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
