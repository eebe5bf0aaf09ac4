package config

import (
	"fmt"
	"slices"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// loadRate is the rate above which traffic is rather a load test, in conversations a second.
const loadRate = 5

// readTraffic resolves the traffic into jobs, in the order of its entries and of the targets.
func readTraffic(r *reader, in []fileTraffic, targets []target.Target, workloads []conversation) []fleet.Job {
	type pair struct{ workload, target string }
	var jobs []fleet.Job
	first, pairs := map[pair]string{}, 0
	r.jobsResolved = r.targets.valid && r.workloads.valid && !r.Wrong("traffic")
	for i, f := range in {
		path := yamlform.Index("traffic", i)
		settings := readTrafficSettings(r, path, f)
		checkSelected(r, path+".targets", f.Targets, &r.targets)
		w, ok := pickWorkload(r, path, f.Workload, workloads)
		r.jobsResolved = r.jobsResolved && !r.Wrong(path) && r.Valid(path+".targets", path+".workload")
		if !ok {
			continue
		}
		checkBudget(r, path+".token_budget", settings.Budget, w)
		if day := settings.Footprint(w.tokens).Day; settings.Rate > loadRate {
			r.notes = append(r.notes, fmt.Sprintf("%s.arrival.rate: %g conversations a second load a deployment: %s a day for each target; write a lower rate, or measure load with synthetic sweep", path, settings.Rate, day))
		}
		for _, n := range r.targets.pick(f.Targets) {
			t, at := targets[n], r.known[n]
			key := pair{w.path, at.path}
			if before := first[key]; before != "" {
				r.Mistake(path, "", fmt.Sprintf("sends workload %q to target %q, as %s does", w.Name, t.Name, before), "keep one of the two, or give one a workload of another name")
				r.jobsResolved = false
				break
			}
			first[key] = path
			if pairs++; pairs > fleet.MaxJobs {
				continue // counted, for the message
			}
			settings.Hours = at.hours
			checkSupport(r, path, t, w.Spec)
			jobs = append(jobs, fleet.Job{
				Job: probe.Job{Target: t, Workload: w.Spec, Traffic: settings}, Footprint: settings.Footprint(w.tokens),
				Location: at.location, ServerMetrics: r.Has(at.path + ".server_metrics"),
			})
		}
	}
	if pairs > fleet.MaxJobs {
		r.Mistake("traffic", "", fmt.Sprintf("has %d pairs of a workload and a target, more than %d", pairs, fleet.MaxJobs), smaller)
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

func readTrafficSettings(r *reader, path string, t fileTraffic) workload.Traffic {
	at := path + ".arrival"
	out := workload.Traffic{Arrival: t.Arrival, MaxConcurrency: t.MaxConcurrency, Budget: workload.TokenBudget(t.TokenBudget)}
	if !r.Valid(at + ".process") {
		return out
	}
	why := "with process " + string(out.Process)
	if out.Process != workload.Gamma {
		r.NoEffect(at, why, "remove it, or write process: gamma", "burstiness")
		out.Burstiness = 0
	}
	if out.Process != workload.Closed {
		out.BurstRate = readBurstRate(r, path, t)
		r.NoEffect(at, why, "remove it, or write process: closed; max_concurrency, beside arrival, limits the conversations in flight", "concurrency")
		return out
	}
	r.NoEffect(at, why, "remove it", "rate")
	r.NoEffect(path, why, "remove it", "burst_rate")
	r.NoEffect(path, why+", which keeps exactly its concurrency in flight", "remove it", "max_concurrency")
	if !r.Has(at+".concurrency") && r.Valid(at+".concurrency") {
		r.Mistake(at+".concurrency", "", "is missing", "write how many conversations to keep in flight, for example concurrency: 4")
	}
	out.Rate, out.MaxConcurrency = 0, 0
	return out
}

// readBurstRate returns the rate of bursts, or 0 for no bursts.
func readBurstRate(r *reader, path string, t fileTraffic) float64 {
	switch at := path + ".burst_rate"; {
	case t.BurstRate > t.Arrival.Rate:
		return t.BurstRate
	case t.BurstRate > 0 && r.Has(at) && r.Valid(at, path+".arrival.rate"):
		r.Mistake(at, fmt.Sprint(t.BurstRate), fmt.Sprintf("is not above the rate of arrival, %v", t.Arrival.Rate), "write a higher one, or 0 for no bursts")
	}
	return 0
}

// checkBudget rejects a token budget that no conversation fits into: every start would be skipped, and only
// a counter would show it. The length of recorded conversations is not known yet.
func checkBudget(r *reader, at string, budget workload.TokenBudget, c conversation) {
	if budget.Tokens == 0 || c.Trace.File != "" || !r.Valid(at, c.path) {
		return
	}
	need, history := 0, c.SystemTokens+c.PromptTokens // the shortest conversation; each turn sends the whole history
	for turn := range c.TurnsMin {
		if turn > 0 && c.ContextTokens > 0 && history+c.MaxOutputTokens > c.ContextTokens {
			break
		}
		need += history + c.MaxOutputTokens
		history += c.MaxOutputTokens + c.FollowupTokens
	}
	if budget.Tokens < need {
		r.Mistake(at, fmt.Sprint(budget.Tokens),
			fmt.Sprintf("is less than the %d tokens of one conversation of workload %q", need, c.Name),
			fmt.Sprintf("write %d or more, or make the conversations shorter", need))
	}
}

// pickWorkload returns the named workload or, without a name, the only one.
func pickWorkload(r *reader, path, name string, workloads []conversation) (conversation, bool) {
	at := path + ".workload"
	if at := r.workloads.at[name]; at != nil {
		return workloads[at[0]], true
	}
	switch {
	case name == "" && len(workloads) == 1:
		return workloads[0], r.Valid(at)
	case !r.Valid(at):
	case name == "":
		r.Mistake(at, "", "is missing", "name one of the workloads "+yamlform.Sequence(r.workloads.all))
	case r.workloads.valid:
		r.Mistake(at, name, "is not a workload", yamlform.Suggest(r.workloads.all, "workloads"))
	}
	return conversation{}, false
}

// names are the names of all targets or of all workloads.
type names struct {
	kind string // "target" or "workload"
	all  []string
	// at holds the positions of each name in all, positions all of them.
	at        map[string][]int
	positions []int
	// valid is false if a name is not known because of a mistake in it.
	valid bool
}

// add makes the name of the item at path known.
func (n *names) add(r *reader, path, name string) {
	n.valid = n.valid && !r.Wrong(path) && !r.Wrong(path+".name") && !r.Wrong(path+".base_url")
	n.positions = append(n.positions, len(n.all))
	n.at[name] = append(n.at[name], len(n.all))
	n.all = append(n.all, name)
}

// pick returns the positions of a selection, in order.
func (n *names) pick(s yamlform.Selection) (at []int) {
	if s == nil {
		return n.positions
	}
	for _, name := range s {
		at = append(at, n.at[name]...)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

func setOf(all []string) map[string]bool {
	set := map[string]bool{}
	for _, one := range all {
		set[one] = true
	}
	return set
}

// checkSelected reports names of a selection that are unknown or repeated.
func checkSelected(r *reader, path string, selection []string, known *names) {
	seen := map[string]bool{}
	for i, name := range selection {
		at := yamlform.Index(path, i)
		switch {
		case !r.Valid(at):
		case name == yamlform.Everything:
			r.Mistake(at, name, "is in a list", "write "+known.kind+`s: "*" without brackets`)
		case known.at[name] == nil && known.valid:
			r.Mistake(at, name, "is not a "+known.kind, yamlform.Suggest(known.all, known.kind+"s"))
		case seen[name]:
			r.Mistake(at, name, "is listed twice", "remove one of the two")
		}
		seen[name] = true
	}
}

// rejectUnused reports targets and workloads without a job: a deployment that is not probed must not be
// an oversight.
func rejectUnused(r *reader, targets []target.Target, workloads []conversation, jobs []fleet.Job) {
	probed, sent := map[string]bool{}, map[string]bool{}
	for _, j := range jobs {
		probed[j.Target.Name], sent[j.Workload.Name] = true, true
	}
	for i, t := range targets {
		if t.Name != "" && !probed[t.Name] {
			r.Mistake(r.known[i].path, t.Name, "gets no traffic", "name it in the targets of a traffic entry, or remove it")
		}
	}
	for _, w := range workloads {
		if !sent[w.Name] {
			r.Mistake(w.path, w.Name, "is sent to no target", "name it as the workload of a traffic entry, or remove it")
		}
	}
}
