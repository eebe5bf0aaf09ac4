package stats

import (
	"maps"
	"slices"

	"synthetic/internal/study/runfile"
)

// Capacity returns the capacity of a variant, by the same rule for a grid and for a search:
// what its levels prove in rising order (see runfile.Capacity.Rise). Levels that were not
// reached are listed and prove nothing.
func (j Judge) Capacity(variant string, run *runfile.Run) runfile.Capacity {
	c := runfile.Capacity{Variant: variant, Wanted: j.Confidence}
	seen := map[float64][]runfile.Result{}
	for _, r := range run.Results {
		if r.Variant != variant || r.Verdict == nil {
			continue
		}
		c.Visited = append(c.Visited, r.Level)
		for _, s := range r.Snapshots {
			c.MeasuredSeconds += s.Seconds
		}
		seen[r.Level] = append(seen[r.Level], r)
	}
	for _, level := range slices.Sorted(maps.Keys(seen)) {
		reached := slices.DeleteFunc(seen[level], func(r runfile.Result) bool { return run.NotReached(r) != "" })
		if len(reached) == 0 {
			c.NotReached = append(c.NotReached, level)
			continue
		}
		if c.AddLevel(level, *j.Combine(reached)); c.Missed != nil {
			break
		}
	}
	return c
}
