package cluster

import "time"

// WorkerStats are the counters and gauges of one worker, as engines have them
// under /metrics. Token counts include work that was aborted or repeated.
type WorkerStats struct {
	// Running and Waiting are the sequences in the batch and before it.
	Running, Waiting int
	// KVBlocks is the size of the KV memory, KVUsed how much of it sequences
	// hold.
	KVBlocks, KVUsed int

	Steps       uint64
	Busy        time.Duration // of steps begun
	Finished    uint64        // whole answers
	Preemptions uint64
	// PromptTokens are those of admitted requests, CachedTokens what was
	// cached of them, PrefilledTokens what was computed in prefill.
	PromptTokens, CachedTokens, PrefilledTokens uint64
	OutputTokens                                uint64
	Drafts, DraftTokens, AcceptedTokens         uint64
}

// Worker returns a worker's state, by its number from 0.
func (c *Cluster) Worker(id int) WorkerStats {
	w := c.workers[id]
	s := w.stats
	s.Running, s.Waiting = len(w.running), len(w.waiting)
	s.KVBlocks = w.pool.total()
	s.KVUsed = s.KVBlocks - w.pool.free
	return s
}

// Stats are the state of the whole cluster.
type Stats struct {
	// InFlight are requests without an end, those on their way included.
	InFlight         int
	Running, Waiting int
}

// Stats returns the state of the whole cluster.
func (c *Cluster) Stats() Stats {
	s := Stats{InFlight: len(c.flying)}
	for _, w := range c.workers {
		s.Running += len(w.running)
		s.Waiting += len(w.waiting)
	}
	return s
}
