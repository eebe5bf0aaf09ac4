package rules

import (
	"slices"

	"synthetic/internal/sidecar/metrics"
)

// group is a set of jobs that share a rule.
type group[K comparable] struct {
	// Key is what the jobs have in common, such as a window.
	Key  K
	Jobs []Job
	// matchers select exactly the jobs; none when these are all there are.
	matchers matchers
}

// Selector is the matchers and more in braces.
func (g group[K]) Selector(more ...string) string { return g.matchers.with(more...).on("") }

// partition puts jobs of one key together, in the order of their first
// appearance. A selector is a product of values and a set of jobs need not
// be, so each workload of a key gets a group of its own.
func partition[K comparable](jobs []Job, key func(Job) K) []group[K] {
	keys, byKey := collect(jobs, key)
	if len(keys) == 1 {
		return []group[K]{{Key: keys[0], Jobs: jobs}}
	}
	var groups []group[K]
	for _, k := range keys {
		workloads, byWorkload := collect(byKey[k], func(j Job) string { return j.Workload })
		for _, w := range workloads {
			groups = append(groups, group[K]{k, byWorkload[w], selecting(byWorkload[w])})
		}
	}
	return groups
}

// selecting matches jobs of one workload.
func selecting(jobs []Job) matchers {
	return matchers{
		oneOf(metrics.LabelTarget, targetsOf(jobs)),
		equals(metrics.LabelWorkload, jobs[0].Workload),
	}
}

// targetsOf lists the targets of jobs, each once.
func targetsOf(jobs []Job) []string {
	targets := make([]string, len(jobs))
	for i, j := range jobs {
		targets[i] = j.Target
	}
	slices.Sort(targets)
	return slices.Compact(targets)
}

// collect sorts jobs into buckets and lists the keys as they appeared.
func collect[K comparable](jobs []Job, key func(Job) K) ([]K, map[K][]Job) {
	var keys []K
	by := map[K][]Job{}
	for _, j := range jobs {
		k := key(j)
		if _, ok := by[k]; !ok {
			keys = append(keys, k)
		}
		by[k] = append(by[k], j)
	}
	return keys, by
}
