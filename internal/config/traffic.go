package config

import (
	"fmt"

	"synthetic/internal/schedule"
	"synthetic/internal/target"
)

// traffic resolves the traffic entries into jobs, in the order of the entries
// and then of the targets.
func (b *builder) traffic(in []fileTraffic, targets []target.Target, workloads []conversation) []schedule.Job {
	if !b.has("traffic") {
		for _, w := range workloads {
			t := defaults[fileTraffic]()
			t.Workload = w.Name
			in = append(in, t)
		}
	}
	var jobs []schedule.Job
	owner := map[[2]string]string{}
	for i, t := range in {
		path := index("traffic", i)
		settings := b.settings(path, t)
		w, ok := b.pickWorkload(path, t.Workload, workloads)
		chosen := b.pickTargets(path, t.Targets, targets)
		if !ok {
			continue
		}
		b.budget(path, settings, w)
		for _, tg := range chosen {
			pair := [2]string{tg.Name, w.Name}
			if first := owner[pair]; first != "" {
				b.mistake(path, "", fmt.Sprintf("sends workload %q to target %q, as %s does", w.Name, tg.Name, first), "keep one of the two, or give one a workload of another name")
				continue
			}
			owner[pair] = path
			jobs = append(jobs, schedule.Job{Target: tg, Workload: w.Spec, Traffic: settings, User: w.user})
		}
	}
	b.idle(targets, workloads, jobs)
	return jobs
}
