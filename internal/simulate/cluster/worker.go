package cluster

import (
	"slices"
	"time"
)

// worker runs the steps of one engine.
type worker struct {
	cluster *Cluster
	id      int
	pool    *pool
	waiting []*sequence // first come, first served
	running []*sequence // in order of admission
	batch   []part      // the step in progress
	busy    bool        // a step is in progress
	lost    bool        // a WorkerLoss is active
	steps   uint64      // steps started so far
	epoch   uint64      // number of times the worker died; steps of earlier epochs never finish
	demand  demand
	// lastArrival is when the latest events reach the clients.
	lastArrival time.Duration
	stats       WorkerStats
}

// WorkerStats are the counters and gauges of a worker. Counts of tokens include work that was
// aborted or repeated.
type WorkerStats struct {
	Running, Waiting int // sequences in the batch, and before it
	// KVBlocks is the size of the KV memory. Sequences hold KVUsed of it.
	KVBlocks, KVUsed int

	Preemptions uint64
	// PromptTokens counts the prompts of admitted requests. CachedTokens of them were cached.
	// PrefilledTokens is the number of tokens that prefill computed.
	PromptTokens, CachedTokens, PrefilledTokens uint64
	OutputTokens                                uint64
	DraftTokens, AcceptedTokens                 uint64
}

// Worker returns the state of a worker. Numbers of workers start at 0.
func (c *Cluster) Worker(id int) WorkerStats {
	w := c.workers[id]
	s := w.stats
	s.Running, s.Waiting = len(w.running), len(w.waiting)
	s.KVBlocks = w.pool.total()
	s.KVUsed = s.KVBlocks - w.pool.free
	return s
}

// part is the share of a sequence in a step.
type part struct {
	*sequence
	tokens int
	decode bool
}

func (w *worker) enqueue(s *sequence) {
	s.firstStep = w.steps + 1
	if w.busy {
		s.firstStep += uint64(w.cluster.engine.Lookahead)
	}
	w.waiting = append(w.waiting, s)
	w.wake()
}

// wake starts a step if the worker is idle and has work.
func (w *worker) wake() {
	c := w.cluster
	if w.busy || w.lost || c.hasFault(Hang, w.id) {
		return
	}
	if len(w.running) == 0 && len(w.waiting) > 0 {
		w.waiting[0].firstStep = 0 // an idle worker has planned no steps ahead
	}
	l := w.plan()
	if len(w.batch) == 0 {
		return
	}
	w.busy = true
	w.steps++
	duration := c.engine.duration(l, c.factor(SlowPrefill, w.id), c.factor(SlowDecode, w.id))
	epoch := w.epoch
	c.agenda.add(c.now+duration, 0, func() {
		if epoch == w.epoch {
			w.finish()
		}
	})
}

// finish ends the step in progress and starts the next one.
func (w *worker) finish() {
	w.busy = false
	for _, p := range w.batch {
		if !p.leaving {
			w.advance(p)
		}
	}
	w.batch = w.batch[:0]
	w.removeLeaving()
	w.cluster.sendStepEvents(w)
	w.wake()
}

// advance updates one sequence after a step.
func (w *worker) advance(p part) {
	s := p.sequence
	emitted := 0
	if p.decode {
		emitted = min(1+w.accepted(p.tokens-1), s.Output-s.generated)
		s.computed += emitted
	} else {
		s.computed += p.tokens
		w.stats.PrefilledTokens += uint64(p.tokens)
		if s.computed == s.known() {
			emitted = 1
		}
	}
	w.pool.store(s)
	if emitted == 0 {
		return
	}
	if s.generated == 0 {
		w.demand.prefilled(s)
	}
	s.generated += emitted
	w.stats.OutputTokens += uint64(emitted)
	w.cluster.emit(s, Tokens, emitted)
	if s.generated == s.Output {
		s.leaving = true
		w.cluster.emit(s, Done, 0)
	}
}

// accepted draws how many of the drafted tokens are accepted.
func (w *worker) accepted(drafted int) int {
	if drafted == 0 {
		return 0
	}
	c := w.cluster
	rate := c.engine.Speculation.Acceptance
	n := 0
	for n < drafted && c.rand.Float64() < rate {
		n++
	}
	w.stats.DraftTokens += uint64(drafted)
	w.stats.AcceptedTokens += uint64(n)
	return n
}

// leave removes a sequence from the worker: now, or after the step in progress if it runs.
func (w *worker) leave(s *sequence) {
	s.leaving = true
	if !w.busy {
		w.removeLeaving()
		return
	}
	if i := slices.Index(w.waiting, s); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
		w.demand.remove(s)
	}
}

func (w *worker) removeLeaving() {
	leaves := func(s *sequence) bool {
		if s.leaving {
			w.pool.release(s)
			w.demand.remove(s)
		}
		return s.leaving
	}
	w.running = slices.DeleteFunc(w.running, leaves)
	w.waiting = slices.DeleteFunc(w.waiting, leaves)
}

// die fails all requests of the worker and clears its cache.
func (w *worker) die() {
	w.epoch++
	w.busy = false
	w.batch = w.batch[:0]
	for _, s := range slices.Concat(w.running, w.waiting) {
		if !s.leaving {
			s.leaving = true
			w.cluster.emit(s, Failed, 0)
		}
	}
	w.removeLeaving()
	w.pool.clear()
	w.cluster.sendStepEvents(w)
}
