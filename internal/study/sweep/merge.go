// Package merge joins the runs of the shards of one sweep, without loss, to the run
// that one process would have written that had carried the whole load.
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

// Part is the run of one shard, and the directory where it lies.
type ShardRun struct {
	Dir string
	Run *runfile.Run
}

// offset is what has to be added to the part's times.
func (p ShardRun) offset() time.Duration {
	offset, _ := p.Run.Shard.Clock()
	return offset
}

// Runs joins runs, which lose their results by it: all shards of one sweep in any order.
// Verdicts and capacities are those of the whole. The largest numbers of turns in
// flight are not known of it, but by the turns (see Turns).
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
		p.Run.Results = nil // so that their values can go
	}
	slices.SortStableFunc(whole.Results, func(a, b runfile.Result) int { return a.Started.Compare(b.Started) })
	for i, c := range whole.Capacities {
		whole.Capacities[i] = by.Capacity(c.Variant, &whole)
		whole.Capacities[i].GridSeconds = c.GridSeconds
	}
	return &whole, whole.Validate()
}
