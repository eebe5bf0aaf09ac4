package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

// ShardRun is the run of one shard and its directory.
type ShardRun struct {
	Dir string
	Run *runfile.Run
}

// offset is added to the shard's times to get times of shard 0.
func (p ShardRun) offset() time.Duration {
	offset, _ := p.Run.Shard.Clock()
	return offset
}

// MergeRuns joins the runs of all shards of a sweep, in any order, without loss, to the run
// that one process would have written. It empties their results. It judges the whole again. The
// largest numbers of turns in flight stay unknown until MergeTurns computes them.
func MergeRuns(parts []ShardRun) (*runfile.Run, error) {
	if err := checkParts(parts); err != nil {
		return nil, err
	}
	parts = slices.SortedFunc(slices.Values(parts), func(a, b ShardRun) int { return cmp.Compare(a.Run.Shard.Index, b.Run.Shard.Index) })
	whole := *parts[0].Run
	whole.Shard, whole.Results = nil, nil
	var order []runfile.Cell
	var interrupted []string
	for _, p := range parts {
		whole.Shards = append(whole.Shards, *p.Run.Shard)
		whole.Generated = runfile.Later(whole.Generated, p.Run.Generated.Add(p.offset()))
		if p.Run.Interrupted != "" {
			interrupted = append(interrupted, fmt.Sprintf("%s: %s", p.Run.Shard, p.Run.Interrupted))
		}
		for _, d := range p.Run.Deployment {
			if !slices.Contains(whole.Deployment, d) {
				whole.Deployment = append(whole.Deployment, d)
			}
		}
		for _, x := range p.Run.Results {
			if c := x.Cell(); !slices.Contains(order, c) {
				order = append(order, c)
			}
		}
	}
	whole.Interrupted = strings.Join(interrupted, "; ")
	by := stats.NewJudge(&whole)
	for _, c := range order {
		whole.Results = append(whole.Results, mergeCell(c, parts, &whole, by))
	}
	for _, p := range parts {
		p.Run.Results = nil // frees their values
	}
	slices.SortStableFunc(whole.Results, func(a, b runfile.Result) int { return a.Started.Compare(b.Started) })
	for i, c := range whole.Capacities {
		whole.Capacities[i] = by.Capacity(c.Variant, &whole)
		whole.Capacities[i].GridSeconds = c.GridSeconds
	}
	return &whole, whole.Validate()
}
