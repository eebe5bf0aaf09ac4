package sweep

import (
	"fmt"
	"maps"

	"synthetic/internal/probe"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/shard"
)

// counts is a copy of a result without its latencies: what a level is judged by.
func counts(r runfile.Result) runfile.Result {
	snapshots, tail := r.Snapshots, r.Tail
	r.Snapshots, r.Tail = nil, nil
	for _, s := range snapshots {
		blocks := s.Blocks
		s.Blocks, s.Server = make([]runfile.Block, len(blocks)), nil
		for i, b := range blocks {
			s.Blocks[i] = countsOf(b)
		}
		r.Snapshots = append(r.Snapshots, s)
	}
	if tail != nil {
		b := countsOf(*tail)
		r.Tail = &b
	}
	return r
}

func countsOf(b runfile.Block) runfile.Block {
	return runfile.Block{
		Seconds: b.Seconds, TurnsStarted: b.TurnsStarted, Good: b.Good, NotJudged: b.NotJudged,
		Outcomes: maps.Clone(b.Outcomes), SLOs: maps.Clone(b.SLOs),
		Tokens: runfile.Tokens{Prompt: b.Tokens.Prompt, Output: b.Tokens.Output},
	}
}

// report is what another shard's side of a level looks like to shard 0.
func (s *sighting) report() *shard.Report {
	return &shard.Report{
		Result: s.result, Turns: s.Turns, Failed: s.Failed, Output: s.OutputTokens, InFlight: s.InFlight, Ended: s.ended,
		Early: s.Early, TargetLost: s.targetLost, Ours: s.ours,
	}
}

// add takes in what another shard counted, nil for nothing. Its latencies stay its
// own.
func (s *sighting) add(index int, r *shard.Report) {
	if r == nil {
		return
	}
	s.Turns, s.Failed, s.OutputTokens = s.Turns+r.Turns, s.Failed+r.Failed, s.OutputTokens+r.Output
	s.InFlight, s.ended = s.InFlight+r.InFlight, s.ended+r.Ended
	s.Early = max(s.Early, r.Early)
	if t := r.Result.Throttled; t != nil && (s.result.Throttled == nil || *t > *s.result.Throttled) {
		s.result.Throttled = t // the worst
	}
	if s.targetLost == "" && r.TargetLost != "" {
		s.targetLost, s.ours = fmt.Sprintf("shard %d: %s", index, r.TargetLost), r.Ours
	}
	for i, snapshot := range r.Result.Snapshots {
		if i == len(s.result.Snapshots) {
			s.result.Snapshots = append(s.result.Snapshots, runfile.Snapshot{Started: snapshot.Started, Seconds: snapshot.Seconds})
		}
		addSnapshot(&s.result.Snapshots[i], snapshot)
	}
	if r.Result.Tail != nil {
		if s.result.Tail == nil {
			s.result.Tail = &runfile.Block{}
		}
		addBlock(s.result.Tail, *r.Result.Tail)
	}
}

func addSnapshot(to *runfile.Snapshot, s runfile.Snapshot) {
	to.ConversationStarts += s.ConversationStarts
	to.ConversationSkips += s.ConversationSkips
	to.ConversationsDue += s.ConversationsDue
	if s.ConversationsMean != nil {
		sum := *s.ConversationsMean
		if to.ConversationsMean != nil {
			sum += *to.ConversationsMean
		}
		to.ConversationsMean = &sum
	}
	for i, b := range s.Blocks {
		if i == len(to.Blocks) {
			to.Blocks = append(to.Blocks, runfile.Block{Seconds: b.Seconds})
		}
		addBlock(&to.Blocks[i], b)
	}
}

func addBlock(to *runfile.Block, b runfile.Block) {
	to.TurnsStarted, to.Good, to.NotJudged = to.TurnsStarted+b.TurnsStarted, to.Good+b.Good, to.NotJudged+b.NotJudged
	to.Tokens.Prompt, to.Tokens.Output = to.Tokens.Prompt+b.Tokens.Prompt, to.Tokens.Output+b.Tokens.Output
	for outcome, n := range b.Outcomes {
		if to.Outcomes == nil {
			to.Outcomes = map[probe.Outcome]uint64{}
		}
		to.Outcomes[outcome] += n
	}
	for name, n := range b.SLOs {
		if to.SLOs == nil {
			to.SLOs = map[string]runfile.Judged{}
		}
		sum := to.SLOs[name]
		to.SLOs[name] = runfile.Judged{Good: sum.Good + n.Good, Bad: sum.Bad + n.Bad, Failed: sum.Failed + n.Failed}
	}
}
