package config

import (
	"fmt"
	"slices"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
)

// traffic resolves the traffic entries into jobs, in the order of the entries
// and then of the targets.
func (b *builder) traffic(in []fileTraffic, targets []target.Target, workloads []conversation) []probe.Job {
	if !b.has("traffic") {
		in = defaultTraffic(workloads)
	}
	var jobs []probe.Job
	owner := map[string]string{}
	for i, t := range in {
		path := index("traffic", i)
		settings := b.settings(path, t)
		chosen := b.pickTargets(path, t.Targets, targets)
		w, ok := b.pickWorkload(path, t.Workload, workloads)
		if !ok {
			continue
		}
		b.budget(path, settings, w)
		benchmark := b.benchmark(path, t)
		for _, n := range chosen {
			pair := index(w.path, n)
			if first := owner[pair]; first != "" {
				b.mistake(path, "", fmt.Sprintf("sends workload %q to target %q, as %s does", w.Name, targets[n].Name, first), "keep one of the two, or give one a workload of another name")
				continue
			}
			owner[pair] = path
			j := probe.Job{Target: targets[n], Workload: w.Spec, Traffic: settings, User: w.user}
			b.baseline(path, t, benchmark, j)
			jobs = append(jobs, j)
		}
	}
	if b.known = b.jobsKnown(len(in)) && b.namesFine("targets", len(targets)) && b.namesFine("workloads", len(workloads)); b.known {
		b.idle(targets, workloads, jobs)
	}
	return jobs
}

// defaultTraffic sends every workload to every target.
func defaultTraffic(workloads []conversation) []fileTraffic {
	var out []fileTraffic
	for _, w := range workloads {
		t := defaults[fileTraffic]()
		t.Workload = w.Name
		if !slices.ContainsFunc(out, func(o fileTraffic) bool { return o.Workload == w.Name }) {
			out = append(out, t)
		}
	}
	return out
}
