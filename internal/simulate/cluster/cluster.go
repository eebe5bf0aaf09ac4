package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Cluster is a deployment at some point of virtual time. It is not safe for
// concurrent use.
type Cluster struct {
	config  Config
	engine  Engine
	workers []*worker
	faults  []*Fault // in force
	rand    *rand.Rand

	now    time.Duration
	agenda agenda
	flying map[uint64]*sequence
	told   []note      // what the step that is being finished has to tell
	handle func(Event) // during Advance

	turn uint64 // of the round-robin
}

// note is an event on its way.
type note struct {
	*sequence
	kind   Kind
	tokens int
	made   time.Duration
}

// Errors of Submit.
var (
	ErrTooLong  = errors.New("request does not fit the KV memory")
	ErrInFlight = errors.New("request id is in flight already")
	ErrPast     = errors.New("time has passed already")
)

// New returns an idle cluster at time 0.
func New(config Config) (*Cluster, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("cluster configuration: %w", err)
	}
	c := &Cluster{
		config: config,
		engine: config.Engine,
		rand:   rand.New(rand.NewPCG(config.Seed, 0x636c7573746572)),
		flying: make(map[uint64]*sequence),
	}
	for i := range config.Workers {
		w := &worker{cluster: c, id: i, pool: newPool(c.engine.KVTokens-c.engine.Speculation.KVTokens, c.engine.BlockTokens)}
		if config.Router.Policy == KVAware {
			w.demand = demand{size: c.engine.BlockTokens, active: make(map[uint64]int32)}
		}
		c.workers = append(c.workers, w)
	}
	for _, f := range config.Faults {
		c.schedule(f)
	}
	return c, nil
}

// MaxTokens is the most that a request's prompt and output may have together:
// what fits a worker's KV memory.
func (c *Cluster) MaxTokens() int {
	return c.workers[0].pool.total()*c.engine.BlockTokens - c.engine.Speculation.Draft
}

// Now is the time up to which the cluster has been advanced.
func (c *Cluster) Now() time.Duration { return c.now }

// Next is when something happens next; false means nothing will until the
// next Submit.
func (c *Cluster) Next() (at time.Duration, ok bool) {
	if len(c.agenda) == 0 {
		return 0, false
	}
	return c.agenda[len(c.agenda)-1].at, true
}

// Advance moves time to the given one, which is ignored if it has passed, and
// hands out all events on the way, in order of time. handle may be nil, and
// may call all methods but Advance.
func (c *Cluster) Advance(to time.Duration, handle func(Event)) {
	c.handle = handle
	for at, ok := c.Next(); ok && at <= to; at, ok = c.Next() {
		e := c.agenda.next()
		c.now = e.at
		e.do()
	}
	c.now = max(c.now, to)
	c.handle = nil
}

// Submit lets a request start at a time, now or later. It returns ErrTooLong,
// ErrInFlight or ErrPast; none of them changes anything.
func (c *Cluster) Submit(at time.Duration, r Request) error {
	most := c.MaxTokens()
	switch {
	case at < c.now:
		return fmt.Errorf("submit request %d at %v, now is %v: %w", r.ID, at, c.now, ErrPast)
	case r.Prompt < 1 || r.Output < 1:
		return fmt.Errorf("submit request %d: prompt %d, output %d: both need at least 1 token", r.ID, r.Prompt, r.Output)
	case r.Prompt+r.Output > most:
		return fmt.Errorf("submit request %d: prompt %d and output %d are more than %d tokens: %w", r.ID, r.Prompt, r.Output, most, ErrTooLong)
	case c.flying[r.ID] != nil:
		return fmt.Errorf("submit request %d: %w", r.ID, ErrInFlight)
	}
	s := &sequence{Request: r, cached: -1}
	c.flying[r.ID] = s
	c.agenda.add(at, r.Rank, func() { c.start(s) })
	return nil
}

// start is a request's arrival at the frontend.
func (c *Cluster) start(s *sequence) {
	if s.closed {
		return
	}
	if d := c.config.Frontend.Deadline; d > 0 {
		c.agenda.add(c.now+d, 0, func() { c.abort(s, Expired) })
	}
	delay := c.config.Frontend.RequestDelay
	if spread := c.config.Frontend.Spread; spread > 0 {
		delay = time.Duration(float64(delay) * (1 + spread*(2*c.rand.Float64()-1)))
	}
	if delay = c.delay(delay); delay == 0 {
		c.route(s)
		return
	}
	c.agenda.add(c.now+delay, 0, func() { c.route(s) })
}

// route gives a request to a worker.
func (c *Cluster) route(s *sequence) {
	if s.closed {
		return
	}
	if most := c.config.Frontend.MaxWaiting; most > 0 && c.Stats().Waiting >= most {
		c.close(s, Refused)
		return
	}
	w := c.pick(s)
	if w == nil {
		c.close(s, Unavailable)
		return
	}
	s.worker, s.routed = w, c.now
	hits, _ := w.pool.match(s.Chain, s.Prompt/w.pool.tokens)
	w.demand.add(s, hits*w.pool.tokens)
	w.enqueue(s)
}

// Cancel ends a request that its client gives up now. The next Advance hands
// out its last event. A request that is not in flight is left alone.
func (c *Cluster) Cancel(id uint64) {
	if s := c.flying[id]; s != nil {
		c.agenda.add(c.now, 0, func() { c.abort(s, Canceled) })
	}
}

// abort ends a request from the frontend's side.
func (c *Cluster) abort(s *sequence, k Kind) {
	if s.closed {
		return
	}
	c.close(s, k)
	if s.worker != nil && !s.leaving {
		s.worker.leave(s)
		s.worker.wake()
	}
}

// close hands out a request's last event.
func (c *Cluster) close(s *sequence, k Kind) { c.deliver(note{s, k, 0, c.now}) }

// tell puts an event of a worker among those of the step that ends now.
func (c *Cluster) tell(s *sequence, k Kind, tokens int) {
	c.told = append(c.told, note{s, k, tokens, c.now})
}

// flush sends off what a step has to tell.
func (c *Cluster) flush(w *worker) {
	if len(c.told) == 0 {
		return
	}
	at := max(w.told, c.now+c.delay(c.config.Frontend.ResponseDelay))
	w.told = at
	batch := slices.Clone(c.told)
	c.told = c.told[:0]
	c.agenda.add(at, 0, func() {
		for _, n := range batch {
			c.deliver(n)
		}
	})
}

// deliver hands an event out unless the request has ended before.
func (c *Cluster) deliver(n note) {
	s := n.sequence
	if s.closed {
		return
	}
	if n.kind != Tokens {
		s.closed = true
		delete(c.flying, s.ID)
	}
	if c.handle == nil {
		return
	}
	e := Event{At: c.now, ID: s.ID, Kind: n.kind, Tokens: n.tokens, Cached: max(s.cached, 0), Worker: -1}
	if s.worker != nil {
		e.Worker, e.AtWorker = s.worker.id, n.made-s.routed
	}
	c.handle(e)
}

// entry is something that will happen.
type entry struct {
	at   time.Duration
	rank uint64 // of entries at one time: the lowest first
	do   func()
}

// agenda is what will happen, the next at its end; of equal entries the one
// that was added first.
type agenda []*entry

// add puts something on the agenda. Its rank keeps its place among what is due
// at the same time from depending on when it was added; 0 is before all others.
func (a *agenda) add(at time.Duration, rank uint64, do func()) {
	i, _ := slices.BinarySearchFunc(*a, entry{at: at, rank: rank}, func(e *entry, x entry) int {
		return cmp.Or(cmp.Compare(x.at, e.at), cmp.Compare(x.rank, e.rank))
	})
	*a = slices.Insert(*a, i, &entry{at, rank, do})
}

// next takes the first entry off the agenda, which must not be empty.
func (a *agenda) next() *entry {
	last := len(*a) - 1
	e := (*a)[last]
	*a = slices.Delete(*a, last, last+1)
	return e
}
