package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkParts rejects parts that are not all shards of one sweep, each once.
func checkParts(parts []ShardRun) error {
	first := parts[0]
	of := map[int]ShardRun{}
	for _, p := range parts {
		if p.Run.Shard == nil {
			return fmt.Errorf("%s is no shard: it carried the whole load by itself; pool repetitions with report average", p.Dir)
		}
		if d := describeDifference(first, p); d != "" {
			return fmt.Errorf("%s and %s are not of one sweep: %s; merge the shards of one", first.Dir, p.Dir, d)
		}
		i := p.Run.Shard.Index
		if i < 0 || i >= first.Run.Shard.Count {
			return fmt.Errorf("%s says that it is %s: take the run.json that its sweep wrote", p.Dir, p.Run.Shard)
		}
		if other, ok := of[i]; ok {
			return fmt.Errorf("%s and %s are both %s: name each shard once", other.Dir, p.Dir, p.Run.Shard)
		}
		of[i] = p
	}
	return errors.Join(checkMissing(of, first.Run.Shard.Count), mergeOverlap(parts))
}

// describeDifference describes what differs between two shards but must not.
func describeDifference(a, b ShardRun) string {
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

func checkMissing(of map[int]ShardRun, count int) error {
	var names []string
	for i := range count {
		if _, ok := of[i]; !ok {
			names = append(names, fmt.Sprint(i))
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("shard %s of %d is missing: without it the levels are not what they are named by; name the directories of all, from 0 to %d", strings.Join(names, " and "), count, count-1)
}

// mergeOverlap rejects one measurement under two names.
func mergeOverlap(parts []ShardRun) error {
	for i, p := range parts {
		for _, other := range parts[:i] {
			if place := p.Run.SharedResult(other.Run); place != "" {
				return fmt.Errorf("%s and %s hold the same measurement (%s): each shard has its own", other.Dir, p.Dir, place)
			}
		}
	}
	return nil
}
