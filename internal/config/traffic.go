package config

import (
	"fmt"
	"slices"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// traffic resolves the traffic entries into jobs, in the order of the entries
// and then of the targets.
func (b *builder) traffic(in []fileTraffic, targets []target.Target, workloads []conversation) []probe.Job {
	var jobs []probe.Job
	owner := map[string]string{}
	for i, t := range in {
		path := yamlform.Index("traffic", i)
		settings := b.settings(path, t)
		b.selected(path+".targets", t.Targets, b.targetNames, "target", "targets")
		w, ok := b.pickWorkload(path, t.Workload, workloads)
		if !ok {
			continue
		}
		b.budget(path+".token_budget", settings.Budget, w)
		benchmark := b.benchmark(path, t)
		for n, to := range targets {
			if t.Targets != nil && !slices.Contains(t.Targets, to.Name) {
				continue
			}
			pair := yamlform.Index(w.path, n)
			if first := owner[pair]; first != "" {
				b.Mistake(path, "", fmt.Sprintf("sends workload %q to target %q, as %s does", w.Name, to.Name, first), "keep one of the two, or give one a workload of another name")
				continue
			}
			owner[pair] = path
			j := probe.Job{Target: to, Workload: w.Spec, Traffic: settings, User: w.user}
			b.vocabulary(path, to, w.Spec)
			b.baseline(path, t, benchmark, j)
			b.footprints[j.Key()] = settings.Footprint(w.costAt(to.API))
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// defaultTraffic sends every workload to every target.
func defaultTraffic(workloads []conversation) []fileTraffic {
	var out []fileTraffic
	for _, w := range workloads {
		t := yamlform.Defaults[fileTraffic]()
		t.Workload = w.Name
		if !slices.ContainsFunc(out, func(o fileTraffic) bool { return o.Workload == w.Name }) {
			out = append(out, t)
		}
	}
	return out
}

// settings resolves how often conversations start and what limits them.
func (b *builder) settings(path string, t fileTraffic) workload.Traffic {
	at := path + ".arrival"
	out := workload.Traffic{Arrival: t.Arrival, MaxConcurrency: t.MaxConcurrency, Budget: workload.TokenBudget(t.TokenBudget)}
	if !b.Valid(at + ".process") {
		return out
	}
	why := "with process " + string(out.Process)
	if out.Process != workload.Gamma {
		b.NoEffect(at, why, "remove it, or write process: gamma", "burstiness")
		out.Burstiness = 0
	}
	if out.Process != workload.Closed {
		out.BurstRate = b.burstRate(path, t)
		b.NoEffect(at, why, "remove it, or write process: closed; max_concurrency, beside arrival, limits what is in flight", "concurrency")
		return out
	}
	b.NoEffect(at, why, "remove it", "rate")
	b.NoEffect(path, why, "remove it", "burst_rate")
	b.NoEffect(path, why+", which keeps exactly its concurrency in flight", "remove it", "max_concurrency")
	if !b.Has(at+".concurrency") && b.Valid(at+".concurrency") {
		b.Mistake(at+".concurrency", "", "is missing", "write how many conversations to keep in flight, for example concurrency: 4")
	}
	out.Rate, out.MaxConcurrency = 0, 0
	return out
}

// burstRate resolves the rate of bursts; 0 means that there are none.
func (b *builder) burstRate(path string, t fileTraffic) float64 {
	switch at := path + ".burst_rate"; {
	case t.BurstRate > t.Arrival.Rate:
		return t.BurstRate
	case t.BurstRate > 0 && b.Has(at) && b.Valid(at, path+".arrival.rate"):
		b.Mistake(at, fmt.Sprint(t.BurstRate), fmt.Sprintf("is not above the rate of arrival, %v", t.Arrival.Rate), "write a higher one, or 0 for no bursts")
	}
	return 0
}

// budget refuses a token budget that no conversation fits in: every start would be skipped, and
// only a counter would show it. The length of conversations of a file is not known yet.
func (b *builder) budget(at string, budget workload.TokenBudget, c conversation) {
	if budget.Tokens == 0 || c.ConversationsFile != "" || c.Trace.File != "" || !b.Valid(at, c.path) {
		return
	}
	if need := leastTokens(c.Spec); budget.Tokens < need {
		b.Mistake(at, fmt.Sprint(budget.Tokens),
			fmt.Sprintf("is less than the %d tokens of one conversation of workload %q", need, c.Name),
			fmt.Sprintf("write %d or more, or make the conversations shorter", need))
	}
}

// leastTokens is what the shortest conversation needs when its answers are as
// long as they may be: each turn sends the whole history again.
func leastTokens(s workload.Spec) int {
	total, history := 0, s.PromptTokens
	for range s.TurnsMin {
		total += history + s.MaxOutputTokens
		history += s.MaxOutputTokens + s.FollowupTokens
	}
	return total
}

// pickWorkload finds the workload that a traffic entry names; without a name,
// the only one there is.
func (b *builder) pickWorkload(path, name string, workloads []conversation) (conversation, bool) {
	at := path + ".workload"
	known := b.workloadNames
	if i := slices.Index(known, name); i >= 0 {
		return workloads[i], true
	}
	switch {
	case name == "" && len(workloads) == 1:
		return workloads[0], b.Valid(at)
	case !b.Valid(at):
	case name == "":
		b.Mistake(at, "", "is missing", "name one of the workloads "+yamlform.Sequence(known))
	case b.namesValid("workloads", len(workloads)):
		b.Mistake(at, name, "is not a workload", yamlform.Suggest(name, known, "workloads"))
	}
	return conversation{}, false
}

// selected reports the names of a selection that are not known, or there twice.
func (b *builder) selected(path string, names, known []string, one, many string) {
	seen := map[string]bool{}
	for i, name := range names {
		at := yamlform.Index(path, i)
		switch {
		case !b.Valid(at):
		case name == yamlform.Everything:
			b.Mistake(at, name, "stands in a list", "write "+one+`s: "*" without brackets`)
		case seen[name]:
			b.Mistake(at, name, "is there twice", "remove one of the two")
		case !slices.Contains(known, name) && b.namesValid(many, len(known)):
			b.Mistake(at, name, "is not a "+one, yamlform.Suggest(name, known, many))
		}
		seen[name] = true
	}
}

// namesValid reports whether the names of the n items of a top-level list can
// be relied upon. An unknown name is no mistake of its own while they cannot.
func (b *builder) namesValid(list string, n int) bool {
	return b.itemsValid(list, n, func(at string) bool { return !b.Wrong(at+".name") && !b.Wrong(at+".base_url") })
}

// itemsValid reports whether neither a list nor one of its n items was wrong, and
// each item is fine.
func (b *builder) itemsValid(list string, n int, fine func(at string) bool) bool {
	for i := range n {
		if at := yamlform.Index(list, i); b.Wrong(at) || !fine(at) {
			return false
		}
	}
	return !b.Wrong(list)
}

// idle reports the targets and workloads that no job uses: to leave a
// deployment unwatched must be written, not forgotten.
func (b *builder) idle(targets []target.Target, workloads []conversation, jobs []probe.Job) {
	for i, t := range targets {
		busy := func(j probe.Job) bool { return j.Target.Name == t.Name }
		if t.Name != "" && !slices.ContainsFunc(jobs, busy) {
			b.Mistake(b.targetPaths[i], t.Name, "gets no traffic", "name it in the targets of a traffic entry, or remove it")
		}
	}
	for _, w := range workloads {
		sent := func(j probe.Job) bool { return j.Workload.Name == w.Name }
		if !slices.ContainsFunc(jobs, sent) {
			b.Mistake(w.path, w.Name, "is sent to no target", "name it as the workload of a traffic entry, or remove it")
		}
	}
}
