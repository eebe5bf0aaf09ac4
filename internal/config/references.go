package config

import (
	"slices"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
)

// pickWorkload finds the workload that a traffic entry names; without a name,
// the only one there is.
func (b *builder) pickWorkload(path, name string, workloads []conversation) (conversation, bool) {
	at := path + ".workload"
	if i := slices.IndexFunc(workloads, func(w conversation) bool { return w.Name == name }); i >= 0 {
		return workloads[i], true
	}
	known := workloadNames(workloads)
	switch {
	case name == "" && len(workloads) == 1:
		return workloads[0], b.fine(at)
	case !b.fine(at):
	case name == "":
		b.mistake(at, "", "is missing", "name one of the workloads "+sequence(known))
	case b.namesFine("workloads", len(workloads)):
		b.mistake(at, shown(name), "is not a workload", suggest(name, known, "workloads"))
	}
	return conversation{}, false
}

// pickTargets finds the targets that a traffic entry selects, by their place
// in the list.
func (b *builder) pickTargets(path string, names selection, targets []target.Target) []int {
	b.selected(path+".targets", names, targetNames(targets), "target", "targets")
	var chosen []int
	for i, t := range targets {
		if names == nil || slices.Contains(names, t.Name) {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

func targetNames(targets []target.Target) []string {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = t.Name
	}
	return out
}

func workloadNames(workloads []conversation) []string {
	out := make([]string, len(workloads))
	for i, w := range workloads {
		out[i] = w.Name
	}
	return out
}

// selected reports the names of a selection that are not known, or there twice.
func (b *builder) selected(path string, names, known []string, one, many string) {
	seen := map[string]bool{}
	for i, name := range names {
		at := index(path, i)
		switch {
		case !b.fine(at):
		case name == everything:
			b.mistake(at, name, "stands in a list", "write "+one+`s: "*" without brackets`)
		case seen[name]:
			b.mistake(at, shown(name), "is there twice", "remove one of the two")
		case !slices.Contains(known, name) && b.namesFine(many, len(known)):
			b.mistake(at, shown(name), "is not a "+one, suggest(name, known, many))
		}
		seen[name] = true
	}
}

// namesFine reports whether the names of the n items of a top-level list can
// be relied upon. An unknown name is no mistake of its own while they cannot.
func (b *builder) namesFine(list string, n int) bool {
	if b.wrong[list] {
		return false
	}
	for i := range n {
		at := index(list, i)
		if b.wrong[at] || b.wrong[at+".name"] || b.wrong[at+".base_url"] {
			return false
		}
	}
	return true
}

// jobsKnown reports whether the traffic entries say for sure which workload
// goes where.
func (b *builder) jobsKnown(traffic int) bool {
	if b.wrong["traffic"] {
		return false
	}
	for i := range traffic {
		at := index("traffic", i)
		if b.wrong[at] || !b.fine(at+".targets", at+".workload") {
			return false
		}
	}
	return true
}

// idle reports the targets and workloads that no job uses: to leave a
// deployment unwatched must be written, not forgotten.
func (b *builder) idle(targets []target.Target, workloads []conversation, jobs []probe.Job) {
	busyTargets, busyWorkloads := map[string]bool{}, map[string]bool{}
	for _, j := range jobs {
		busyTargets[j.Target.Name], busyWorkloads[j.Workload.Name] = true, true
	}
	for i, t := range targets {
		if t.Name != "" && !busyTargets[t.Name] {
			b.mistake(index("targets", i), t.Name, "gets no traffic", "name it in the targets of a traffic entry, or remove it")
		}
	}
	for _, w := range workloads {
		if !busyWorkloads[w.Name] {
			b.mistake(w.path, w.Name, "is sent to no target", "name it as the workload of a traffic entry, or remove it")
		}
	}
}
