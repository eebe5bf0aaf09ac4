// Package cluster is a model of an LLM deployment with continuous batching: a frontend routes
// requests to workers, and each worker runs steps over a batch of sequences, with a paged and
// prefix-cached KV memory.
//
// It is a discrete-event simulation without goroutines and without a wall clock. Time is a
// [time.Duration] since the start. The same configuration, seed and calls give the same events to
// the nanosecond. A caller advances it in virtual time, as fast as it computes:
//
//	for at, ok := c.Next(); ok; at, ok = c.Next() {
//		c.Advance(at, handle)
//	}
//
// or in real time, by calling Advance whenever the clock reaches Next.
// docs/background/simulation.md describes the model and the source of its parameters.
package cluster

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Cluster is a simulated deployment. It is not safe for concurrent use.
type Cluster struct {
	config  Config
	engine  engine
	workers []*worker
	faults  []*Fault // active now
	rand    *rand.Rand

	now      time.Duration
	agenda   agenda
	inFlight map[uint64]*sequence
	// stepEvents are the events of the step that is ending. They are sent together.
	stepEvents []event
	handle     func(Event) // set during Advance

	routed uint64 // requests routed by roundRobin so far
}

// event is an Event before it is delivered.
type event struct {
	*sequence
	kind   Kind
	tokens int
	at     time.Duration // at the worker
}

// New returns an idle cluster at time 0.
func New(config Config) *Cluster {
	c := &Cluster{
		config:   config,
		engine:   config.Engine,
		rand:     rand.New(rand.NewPCG(config.Seed, 0x636c7573746572)),
		inFlight: make(map[uint64]*sequence),
	}
	for i := range config.Workers {
		w := &worker{cluster: c, id: i, pool: newPool(c.engine.KVTokens-c.engine.Speculation.KVTokens, c.engine.BlockTokens)}
		if config.Policy == KVAware {
			w.demand = demand{size: c.engine.BlockTokens, active: make(map[uint64]int32)}
		}
		c.workers = append(c.workers, w)
	}
	for _, f := range config.Faults {
		c.schedule(f)
	}
	return c
}

// MaxTokens returns how many tokens the prompt and the output of a request may have together to
// fit the KV memory of a worker.
func (c *Cluster) MaxTokens() int {
	return c.workers[0].pool.total()*c.engine.BlockTokens - c.engine.Speculation.Draft
}

// Now returns the time up to which the cluster has been advanced.
func (c *Cluster) Now() time.Duration { return c.now }

// InFlight returns the number of requests that were submitted and have not ended.
func (c *Cluster) InFlight() int { return len(c.inFlight) }

// Next returns the time of the next action. It returns false if nothing happens until the next
// Submit.
func (c *Cluster) Next() (at time.Duration, ok bool) {
	if len(c.agenda) == 0 {
		return 0, false
	}
	return c.agenda[len(c.agenda)-1].at, true
}

// Advance moves time to the given time and calls handle for each event on the way, in order of
// time. It ignores a time in the past. handle may call every method except Advance.
func (c *Cluster) Advance(to time.Duration, handle func(Event)) {
	c.handle = handle
	for at, ok := c.Next(); ok && at <= to; at, ok = c.Next() {
		a := c.agenda.pop()
		c.now = a.at
		a.do()
	}
	c.now = max(c.now, to)
	c.handle = nil
}

// Submit starts a request at a time, now or later. A request that it refuses changes nothing.
func (c *Cluster) Submit(at time.Duration, r Request) error {
	limit := c.MaxTokens()
	switch {
	case at < c.now:
		return fmt.Errorf("request %d starts at %v: that is in the past, now is %v", r.ID, at, c.now)
	case r.Prompt < 1 || r.Output < 1:
		return fmt.Errorf("request %d has a prompt of %d and an output of %d tokens: each needs at least 1", r.ID, r.Prompt, r.Output)
	case r.Prompt+r.Output > limit:
		return fmt.Errorf("request %d has a prompt of %d and an output of %d tokens: KV memory holds %d", r.ID, r.Prompt, r.Output, limit)
	case c.inFlight[r.ID] != nil:
		return fmt.Errorf("request %d: another request with this ID is in flight", r.ID)
	}
	s := &sequence{Request: r, cached: -1}
	c.inFlight[r.ID] = s
	c.agenda.add(at, r.Rank, func() { c.arrive(s) })
	return nil
}

// arrive handles the arrival of a request at the frontend.
func (c *Cluster) arrive(s *sequence) {
	if s.ended {
		return
	}
	if d := c.config.Frontend.Deadline; d > 0 {
		c.agenda.add(c.now+d, 0, func() { c.abort(s, Expired) })
	}
	delay := c.config.Frontend.RequestDelay
	if spread := c.config.Frontend.Spread; spread > 0 {
		delay = time.Duration(float64(delay) * (1 + spread*(2*c.rand.Float64()-1)))
	}
	if delay == 0 {
		c.route(s)
		return
	}
	c.agenda.add(c.now+delay, 0, func() { c.route(s) })
}

func (c *Cluster) route(s *sequence) {
	if s.ended {
		return
	}
	w := c.pick(s)
	if w == nil {
		c.end(s, Unavailable)
		return
	}
	s.worker, s.routed = w, c.now
	hits, _ := w.pool.match(s.Chain, s.Prompt/w.pool.tokens)
	w.demand.add(s, hits*w.pool.tokens)
	w.enqueue(s)
}

// Cancel ends a request because its client left. The next Advance delivers the last event of the
// request. Cancel ignores a request that is not in flight.
func (c *Cluster) Cancel(id uint64) {
	if s := c.inFlight[id]; s != nil {
		c.agenda.add(c.now, 0, func() { c.abort(s, Canceled) })
	}
}

// abort ends a request on behalf of the frontend.
func (c *Cluster) abort(s *sequence, k Kind) {
	if s.ended {
		return
	}
	c.end(s, k)
	if s.worker != nil && !s.leaving {
		s.worker.leave(s)
		s.worker.wake()
	}
}

// end delivers the last event of a request.
func (c *Cluster) end(s *sequence, k Kind) { c.deliver(event{s, k, 0, c.now}) }

// emit adds an event to those of the step that is ending.
func (c *Cluster) emit(s *sequence, k Kind, tokens int) {
	c.stepEvents = append(c.stepEvents, event{s, k, tokens, c.now})
}

// sendStepEvents sends the events of a step of w to the clients.
func (c *Cluster) sendStepEvents(w *worker) {
	if len(c.stepEvents) == 0 {
		return
	}
	w.lastArrival = max(w.lastArrival, c.now+c.config.Frontend.ResponseDelay)
	batch := slices.Clone(c.stepEvents)
	c.stepEvents = c.stepEvents[:0]
	c.agenda.add(w.lastArrival, 0, func() {
		for _, e := range batch {
			c.deliver(e)
		}
	})
}

// deliver hands an event to the caller, unless the request has already ended.
func (c *Cluster) deliver(e event) {
	s := e.sequence
	if s.ended {
		return
	}
	if e.kind != Tokens {
		s.ended = true
		delete(c.inFlight, s.ID)
	}
	if c.handle == nil {
		return
	}
	out := Event{At: c.now, ID: s.ID, Kind: e.kind, Tokens: e.tokens, Cached: max(s.cached, 0), Worker: -1}
	if s.worker != nil {
		out.Worker, out.AtWorker = s.worker.id, e.at-s.routed
	}
	c.handle(out)
}

type action struct {
	at   time.Duration
	rank uint64
	do   func()
}

// agenda holds scheduled actions. The next action is the last element. Of equal actions, the one
// added first comes first.
type agenda []*action

// add schedules an action. Of actions at the same time, the lowest rank comes first, whichever was
// added first.
func (a *agenda) add(at time.Duration, rank uint64, do func()) {
	i, _ := slices.BinarySearchFunc(*a, action{at: at, rank: rank}, func(e *action, x action) int {
		return cmp.Or(cmp.Compare(x.at, e.at), cmp.Compare(x.rank, e.rank))
	})
	*a = slices.Insert(*a, i, &action{at, rank, do})
}

// pop removes and returns the next action. The agenda must not be empty.
func (a *agenda) pop() *action {
	last := len(*a) - 1
	next := (*a)[last]
	*a = slices.Delete(*a, last, last+1)
	return next
}
