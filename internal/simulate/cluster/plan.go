package cluster

import (
	"math"
	"slices"
	"time"
)

// plan fills the batch of the next step: first with running sequences, then with waiting ones, as
// far as tokens, places and memory allow.
func (w *worker) plan() load {
	e := &w.cluster.engine
	w.batch = w.batch[:0]
	var l load
	budget := e.MaxBatchedTokens
	preempted := false
	for i := 0; i < len(w.running) && budget > 0; i++ {
		s := w.running[i]
		tokens, decode := w.wanted(s, s.computed, budget)
		for !w.pool.grow(s, s.computed+tokens) {
			preempted = true
			if w.preempt() == s {
				break
			}
		}
		if i < len(w.running) {
			budget -= w.add(&l, s, tokens, decode)
		}
	}
	for budget > 0 && !preempted && len(w.waiting) > 0 && len(w.running) < e.MaxSeqs {
		s := w.waiting[0]
		if s.firstStep > w.steps+1 || !w.admit(s, budget) {
			break
		}
		tokens, decode := w.wanted(s, s.computed, budget)
		budget -= w.add(&l, s, tokens, decode)
	}
	return l
}

// wanted returns how many tokens a sequence computes next within a budget, and whether it decodes.
func (w *worker) wanted(s *sequence, computed, budget int) (tokens int, decode bool) {
	missing := s.known() - computed
	if missing == 1 && s.generated > 0 {
		return min(1+w.cluster.engine.Speculation.Draft, budget), true
	}
	return min(missing, budget), false
}

// add adds a sequence to the batch and returns its tokens.
func (w *worker) add(l *load, s *sequence, tokens int, decode bool) int {
	w.batch = append(w.batch, part{s, tokens, decode})
	if decode {
		l.decodes++
		l.decoded += tokens
		l.context += s.computed
	} else {
		l.prefill += tokens
		l.pairs += float64(tokens) * (float64(s.computed) + float64(tokens)/2)
	}
	return tokens
}

// admit moves the first waiting sequence into the batch, if there is memory for the part of its
// prompt that the budget allows.
func (w *worker) admit(s *sequence, budget int) bool {
	// The last token is always computed: sampling needs its result.
	hits, free := w.pool.match(s.Chain, (s.known()-1)/w.pool.tokens)
	tokens, _ := w.wanted(s, hits*w.pool.tokens, budget)
	tokens += hits * w.pool.tokens
	if w.pool.missing(s, tokens)-hits > w.pool.free-free {
		return false
	}
	w.pool.share(s, hits)
	w.pool.grow(s, tokens)
	if s.cached < 0 {
		s.cached = hits * w.pool.tokens
		w.stats.PromptTokens += uint64(s.Prompt)
		w.stats.CachedTokens += uint64(s.cached)
	}
	w.waiting = slices.Delete(w.waiting, 0, 1)
	w.running = append(w.running, s)
	return true
}

// preempt takes the memory of the sequence that was admitted last. That sequence waits again and
// later recomputes the blocks that are not cached then.
func (w *worker) preempt() *sequence {
	last := len(w.running) - 1
	s := w.running[last]
	w.running = w.running[:last]
	w.pool.release(s)
	w.waiting = slices.Insert(w.waiting, 0, s)
	s.firstStep = 0
	w.stats.Preemptions++
	return s
}

// load is the work of one step.
type load struct {
	decodes int     // sequences that decode
	decoded int     // tokens of their batch, drafts included
	context int     // cached tokens that they attend to
	prefill int     // prompt tokens
	pairs   float64 // pairs of a prompt token and a token before it
}

// duration returns how long a step with that load takes. prefill and decode are slow-down factors.
func (e *engine) duration(l load, prefill, decode float64) time.Duration {
	c := &e.Cost
	batch, captured := e.captured(l.decoded)
	t := c.Base + c.Token*float64(batch) + c.KVToken*float64(l.context)
	if e.Speculation.Draft > 0 && l.decodes > 0 {
		t += c.Draft
	}
	if !captured || l.prefill > 0 {
		t += c.Eager
	}
	t = t*decode + (c.Prefill*float64(l.prefill)+c.Pair*l.pairs)*prefill
	return max(1, time.Duration(math.Round(t*float64(time.Second))))
}

// captured returns the batch size, padding included, that the engine runs for a number of decoded
// tokens, and whether it has a captured graph for it.
func (e *engine) captured(decoded int) (size int, ok bool) {
	i, exact := slices.BinarySearch(e.Graphs, decoded)
	if e.Padding && decoded > 0 && i < len(e.Graphs) {
		return e.Graphs[i], true
	}
	return decoded, exact || decoded == 0 || len(e.Graphs) == 0
}
