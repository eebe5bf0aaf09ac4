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
	waiting []*sequence   // first come, first served
	running []*sequence   // in order of admission
	batch   []part        // of the step in progress
	busy    bool          // a step is in progress
	lost    bool          // by a WorkerLoss in force
	steps   uint64        // begun so far
	epoch   uint64        // steps of an earlier epoch were lost with the worker
	demand  demand        // as the router counts it
	told    time.Duration // when its last events reach the clients
	stats   WorkerStats
}

// part is what a sequence does in a step.
type part struct {
	*sequence
	tokens int
	decode bool
}

// enqueue takes in a request.
func (w *worker) enqueue(s *sequence) {
	s.worker = w
	s.joins = w.steps + 1
	if w.busy {
		s.joins += uint64(w.cluster.engine.Lookahead)
	}
	w.waiting = append(w.waiting, s)
	w.wake()
}

// wake begins a step if the worker is idle and there is work.
func (w *worker) wake() {
	c := w.cluster
	if w.busy || w.lost || c.suffers(Hang, w.id) {
		return
	}
	if len(w.running) == 0 && len(w.waiting) > 0 {
		w.waiting[0].joins = 0 // nothing was planned ahead of it
	}
	l := w.plan()
	if len(w.batch) == 0 {
		return
	}
	w.busy = true
	w.steps++
	took := c.engine.duration(l, c.factor(SlowPrefill, w.id), c.factor(SlowDecode, w.id))
	w.stats.Steps++
	w.stats.Busy += took
	epoch := w.epoch
	c.agenda.add(c.now+took, 0, func() {
		if epoch == w.epoch {
			w.finish()
		}
	})
}

// finish ends the step in progress and begins the next.
func (w *worker) finish() {
	w.busy = false
	for i := range w.batch {
		if p := &w.batch[i]; !p.leaving {
			w.advance(p)
		}
	}
	w.batch = w.batch[:0]
	w.sweep()
	w.cluster.flush(w)
	w.wake()
}

// advance brings one sequence to the state after the step.
func (w *worker) advance(p *part) {
	s := p.sequence
	emitted := 0
	if p.decode {
		emitted = min(1+w.accepted(p.tokens-1), s.Output-s.out)
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
	if s.out == 0 {
		w.demand.prefilled(s)
	}
	s.out += emitted
	w.stats.OutputTokens += uint64(emitted)
	w.cluster.tell(s, Tokens, emitted)
	if s.out == s.Output {
		s.leaving = true
		w.stats.Finished++
		w.cluster.tell(s, Done, 0)
	}
}

// accepted draws how many of the drafted tokens are accepted.
func (w *worker) accepted(drafted int) int {
	if drafted == 0 {
		return 0
	}
	c := w.cluster
	rate := c.engine.Speculation.Acceptance * c.factor(Acceptance, w.id)
	n := 0
	for n < drafted && c.rand.Float64() < rate {
		n++
	}
	w.stats.Drafts++
	w.stats.DraftTokens += uint64(drafted)
	w.stats.AcceptedTokens += uint64(n)
	return n
}

// leave takes a sequence off the worker, at once unless it is in the step in
// progress.
func (w *worker) leave(s *sequence) {
	s.leaving = true
	if !w.busy {
		w.sweep()
		return
	}
	if i := slices.Index(w.waiting, s); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
		w.demand.remove(s)
	}
}

// sweep removes the sequences that are to go.
func (w *worker) sweep() {
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

// die loses all that the worker holds.
func (w *worker) die() {
	w.epoch++
	w.busy = false
	w.batch = w.batch[:0]
	for _, s := range slices.Concat(w.running, w.waiting) {
		if !s.leaving {
			s.leaving = true
			w.cluster.tell(s, Failed, 0)
		}
	}
	w.sweep()
	w.pool.clear()
	w.cluster.flush(w)
}
