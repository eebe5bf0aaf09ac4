// Package fleet holds what a configuration yields: targets, the jobs of each of them, how their turns are judged, and
// the interface of the parts that follow jobs.
//
// A Fleet is a plain value. How a shard or discovered targets change it is a function of this package.
package fleet

import (
	"cmp"
	"slices"
	"strings"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
)

// MaxJobs bounds the jobs of a process. Each holds up to 1 MB.
const MaxJobs = 5000

// Fleet is everything that is probed. Its lists have the order of the file.
type Fleet struct {
	Targets []target.Target
	// Groups are the groups of discovered or leased targets. Their templates are among Targets.
	Groups []Group
	// ServerMetrics are the targets whose server's metrics are read.
	ServerMetrics []serverside.Watched
	// Jobs are the pairs of target and workload, in the order of the traffic.
	Jobs []Job
	SLOs []slo.Objective
}

// ForShard returns a shard's part of the fleet. The targets of a service and the models of a target stay
// together. Every shard has all leased targets, because only the shard that is asked leases one.
func (f Fleet) ForShard(s Shard) Fleet {
	if s.Count < 2 {
		return f
	}
	groups := map[string]Group{}
	for _, g := range f.Groups {
		groups[g.Name()] = g
	}
	owns := func(t target.Target) bool {
		base, _, _ := strings.Cut(t.Name, "/")
		g, found := groups[base]
		if found {
			base = t.Name
		}
		return g.Lease > 0 || s.owns(cmp.Or(t.Service, base))
	}
	f.Targets = filter(f.Targets, owns)
	f.ServerMetrics = filter(f.ServerMetrics, func(w serverside.Watched) bool { return owns(w.Target) })
	f.Jobs = filter(f.Jobs, func(j Job) bool { return owns(j.Target) })
	return f
}

func filter[T any](all []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !keep(v) })
}

// WithDiscovered returns the fleet with a target GROUP/NAME for each found target. found has the targets by group.
func (f Fleet) WithDiscovered(found map[string][]Discovered) Fleet {
	instead := map[string][]target.Target{}
	for _, g := range f.Groups {
		instead[g.Name()] = []target.Target{}
		for _, t := range found[g.Name()] {
			instead[g.Name()] = append(instead[g.Name()], t.Of(g.Template))
		}
	}
	return f.With(instead)
}

// ForRules returns the fleet for rules, which must not depend on the current targets: GROUP/* stands for every
// target of a group.
func (f Fleet) ForRules() Fleet {
	instead := map[string][]target.Target{}
	for _, g := range f.Groups {
		t := g.Template
		t.Name += "/*"
		instead[g.Name()] = []target.Target{t}
	}
	return f.With(instead)
}

// With returns the fleet with other targets instead of some of them, by name. Objectives follow.
func (f Fleet) With(instead map[string][]target.Target) Fleet {
	if len(instead) == 0 {
		return f
	}
	replace := func(t target.Target) []target.Target {
		if r, ok := instead[t.Name]; ok {
			return r
		}
		return []target.Target{t}
	}
	out := f
	out.Targets, out.Jobs, out.SLOs = nil, nil, slices.Clone(f.SLOs)
	replaced := map[string]slo.Objective{}
	for i, o := range out.SLOs {
		out.SLOs[i].Targets = replaceNames(o.Targets, replace)
		replaced[o.Name] = out.SLOs[i]
	}
	for _, t := range f.Targets {
		out.Targets = append(out.Targets, replace(t)...)
	}
	for _, j := range f.Jobs {
		j.Objectives = slices.Clone(j.Objectives)
		for i, o := range j.Objectives {
			j.Objectives[i] = replaced[o.Name]
		}
		for _, t := range replace(j.Target) {
			j.Target = t
			out.Jobs = append(out.Jobs, j)
		}
	}
	return out
}

// replaceNames replaces the names of a selection. If nothing is left, it returns names, because nil
// would select every target.
func replaceNames(names []string, replace func(target.Target) []target.Target) (out []string) {
	for _, name := range names {
		for _, t := range replace(target.Target{Name: name}) {
			out = append(out, t.Name)
		}
	}
	if out == nil && names != nil {
		return names
	}
	return out
}

// UpTo returns how many targets a target of the file may stand for.
func (f Fleet) UpTo(name string) int {
	for _, g := range f.Groups {
		if g.Name() == name {
			return g.Most
		}
	}
	return 1
}

// Footprint returns the expected tokens of a day. known is true if the tokens of every job are known.
func (f Fleet) Footprint() (day workload.Tokens, known bool) {
	known = true
	for _, j := range f.Jobs {
		day = day.Plus(j.Footprint.Day.Times(float64(f.UpTo(j.Target.Name))))
		known = known && j.Footprint.Day.Sum() > 0
	}
	return day, known
}
