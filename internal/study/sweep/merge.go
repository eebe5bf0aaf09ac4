package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

// shardRun is the run of one shard and its directory.
type shardRun struct {
	Dir string
	Run *runfile.Run
}

// offset is added to the shard's times to get times of shard 0.
func (p shardRun) offset() time.Duration {
	offset, _ := p.Run.Shard.Clock()
	return offset
}

// mergeRuns joins the runs of all shards of a sweep, in any order, without loss, to the run
// that one process would have written. It empties their results. It judges the whole again. The
// largest numbers of turns in flight stay unknown until MergeTurns computes them.
func mergeRuns(parts []shardRun) (*runfile.Run, error) {
	if err := checkParts(parts); err != nil {
		return nil, err
	}
	parts = slices.SortedFunc(slices.Values(parts), func(a, b shardRun) int { return cmp.Compare(a.Run.Shard.Index, b.Run.Shard.Index) })
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
	judge := stats.NewJudge(&whole)
	for _, c := range order {
		whole.Results = append(whole.Results, mergeCell(c, parts, &whole, judge))
	}
	for _, p := range parts {
		p.Run.Results = nil // frees their values
	}
	slices.SortStableFunc(whole.Results, func(a, b runfile.Result) int { return a.Started.Compare(b.Started) })
	for i, c := range whole.Capacities {
		whole.Capacities[i] = judge.Capacity(c.Variant, &whole)
		whole.Capacities[i].GridSeconds = c.GridSeconds
	}
	return &whole, whole.Validate()
}

func checkParts(parts []shardRun) error {
	first := parts[0]
	byIndex := map[int]shardRun{}
	for _, p := range parts {
		if p.Run.Shard == nil {
			return fmt.Errorf("%s is not a shard: it carried the whole load by itself; pool repetitions with report average", p.Dir)
		}
		if d := describeDifference(first, p); d != "" {
			return fmt.Errorf("%s and %s are not of one sweep: %s; merge the shards of one", first.Dir, p.Dir, d)
		}
		i := p.Run.Shard.Index
		if i < 0 || i >= first.Run.Shard.Count {
			return fmt.Errorf("%s says that it is %s: use the run.json that its sweep wrote", p.Dir, p.Run.Shard)
		}
		if other, ok := byIndex[i]; ok {
			return fmt.Errorf("%s and %s are both %s: name each shard once", other.Dir, p.Dir, p.Run.Shard)
		}
		byIndex[i] = p
	}
	return errors.Join(checkMissing(byIndex, first.Run.Shard.Count), mergeOverlap(parts))
}

// describeDifference describes what differs between two shards but must not.
func describeDifference(a, b shardRun) string {
	x, y := a.Run, b.Run
	switch {
	case x.Plan.SHA256 != y.Plan.SHA256:
		return fmt.Sprintf("their plans differ (sha256 %.12s…, %.12s…)", x.Plan.SHA256, y.Plan.SHA256)
	case !slices.Equal(x.Workload.Parameters, y.Workload.Parameters):
		return "their workloads differ: the files that the plan names were not the same"
	case x.Seed != y.Seed:
		return fmt.Sprintf("their seeds are %d and %d", x.Seed, y.Seed)
	case x.Shard.Count != y.Shard.Count:
		return fmt.Sprintf("they are %s and %s", x.Shard, y.Shard)
	case x.Shard.Sweep != y.Shard.Sweep:
		return fmt.Sprintf("they are of two sweeps of one plan (%s, %s)", x.Shard.Sweep, y.Shard.Sweep)
	case x.Format != y.Format:
		return fmt.Sprintf("their formats are %d and %d", x.Format, y.Format)
	}
	return ""
}

func checkMissing(byIndex map[int]shardRun, count int) error {
	var names []string
	for i := range count {
		if _, ok := byIndex[i]; !ok {
			names = append(names, fmt.Sprint(i))
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("shard %s of %d is missing: without it the levels lack a part of their load; name the directories of all, from 0 to %d", strings.Join(names, " and "), count, count-1)
}

func mergeOverlap(parts []shardRun) error {
	for i, p := range parts {
		for _, other := range parts[:i] {
			if place := p.Run.SharedResult(other.Run); place != "" {
				return fmt.Errorf("%s and %s hold the same measurement (%s): each shard has its own", other.Dir, p.Dir, place)
			}
		}
	}
	return nil
}
