package sweep

import (
	"maps"
	"time"

	"synthetic/internal/study/runfile"
)

// countsOnly returns a copy of a result without its latencies, for judging a level.
func countsOnly(r runfile.Result) runfile.Result {
	snapshots, tail := r.Snapshots, r.Tail
	r.Snapshots, r.Tail = nil, nil
	for _, s := range snapshots {
		blocks := s.Blocks
		s.Blocks, s.Server = make([]runfile.Block, len(blocks)), nil
		for i, b := range blocks {
			s.Blocks[i] = blockCounts(b)
		}
		r.Snapshots = append(r.Snapshots, s)
	}
	if tail != nil {
		b := blockCounts(*tail)
		r.Tail = &b
	}
	return r
}

func blockCounts(b runfile.Block) runfile.Block {
	return runfile.Block{
		Seconds: b.Seconds, TurnsStarted: b.TurnsStarted, Good: b.Good, NotJudged: b.NotJudged,
		Outcomes: maps.Clone(b.Outcomes), SLOs: maps.Clone(b.SLOs),
		Tokens: runfile.Tokens{Prompt: b.Tokens.Prompt, Output: b.Tokens.Output},
	}
}

// levelReport holds the counts of the current level so far.
type levelReport struct {
	Result runfile.Result // the counts of each block without latencies
	Counts
	Ended int // counts conversations, if the measurement ends by their number
	// TargetLost says why the target counts as dead, or "". Ours is set if the prober itself
	// cannot send, so that the target may be alive.
	TargetLost string
	Ours       bool
}

// Counts summarises the turns of a measurement so far.
type Counts struct {
	// Turns counts ended turns, Failed the failed ones. Early is the mean duration of the first
	// turns, before a queue can form.
	Turns, Failed uint64
	Early         time.Duration
	InFlight      int
	OutputTokens  uint64
}
