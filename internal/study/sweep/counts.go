package sweep

import (
	"fmt"
	"maps"

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

// addReport adds the counts of a worker; nil adds nothing. Its latencies are not merged.
func addReport(s *levelReport, name string, r *levelReport) {
	if r == nil {
		return
	}
	s.Turns, s.Failed, s.OutputTokens = s.Turns+r.Turns, s.Failed+r.Failed, s.OutputTokens+r.OutputTokens
	s.InFlight, s.Ended = s.InFlight+r.InFlight, s.Ended+r.Ended
	s.Early = max(s.Early, r.Early)
	if s.TargetLost == "" && r.TargetLost != "" {
		s.TargetLost, s.Ours = fmt.Sprintf("%s: %s", name, r.TargetLost), r.Ours
	}
	o := countsOnly(r.Result) // the counts must not change later
	for i := range min(len(o.Snapshots), len(s.Result.Snapshots)) {
		own := s.Result.Snapshots[i] // the same snapshot, whatever the clocks say
		o.Snapshots[i].Started, o.Snapshots[i].Seconds = own.Started, own.Seconds
	}
	s.Result.Merge(o)
}
