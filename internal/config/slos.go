package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/slo"
)

// defaultSLOs are those of a configuration that names none.
func defaultSLOs() []slo.Objective {
	const window = 30 * 24 * time.Hour
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: window},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: window},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: window},
	}
}

// slos resolves the objectives and checks them against the jobs.
func (b *builder) slos(in []fileSLO, targets []target.Target, workloads []conversation, jobs []probe.Job) []slo.Objective {
	if !b.has("slos") {
		for _, o := range defaultSLOs() {
			b.reachable("slos[0]", o, jobs)
		}
		return defaultSLOs()
	}
	taken := map[string]string{}
	out := make([]slo.Objective, len(in))
	for i, s := range in {
		path := index("slos", i)
		out[i] = objective(s)
		if out[i].Name != "" {
			b.name(path, out[i].Name, "SLO", taken)
		}
		b.threshold(path, s)
		b.selected(path+".targets", s.Targets, targetNames(targets), "target", "targets")
		b.selected(path+".workloads", s.Workloads, workloadNames(workloads), "workload", "workloads")
		b.covers(path, out[i], jobs)
		b.reachable(path, out[i], jobs)
	}
	return out
}

func objective(s fileSLO) slo.Objective {
	o := slo.Objective{
		Name: cmp.Or(s.Name, s.SLI), SLI: slo.SLI(s.SLI),
		Threshold: time.Duration(s.Threshold), Objective: float64(s.Objective),
		Window: time.Duration(s.Window), Targets: s.Targets, Workloads: s.Workloads,
	}
	for _, kind := range s.Turns {
		o.Turns = append(o.Turns, probe.TurnKind(kind))
	}
	return o
}

// threshold checks that there is one exactly where the SLI has a size.
func (b *builder) threshold(path string, s fileSLO) {
	at := path + ".threshold"
	switch {
	case !b.fine(path + ".sli"):
	case slo.SLI(s.SLI) == slo.Availability && b.has(at):
		b.mistake(at, "", "has no meaning for availability, which counts failed turns", "remove it")
	case slo.SLI(s.SLI) != slo.Availability && !b.has(at) && b.fine(at):
		b.mistake(at, "", "is missing", "write the highest good value, for example threshold: 1s")
	}
}

// covers reports an objective that no turn will ever be judged by.
func (b *builder) covers(path string, o slo.Objective, jobs []probe.Job) {
	if !b.known || !b.selectorsFine(path) || slices.ContainsFunc(jobs, func(j probe.Job) bool { return coversJob(o, j) }) {
		return
	}
	b.mistake(path, shown(o.Name), "covers no traffic, so that it could never be violated", "widen its targets, workloads or turns, or remove it")
}

// selectorsFine reports whether it is known what the objective at path judges.
func (b *builder) selectorsFine(path string) bool {
	return !b.wrong[path] && b.fine(path+".sli", path+".targets", path+".workloads", path+".turns")
}

func coversJob(o slo.Objective, j probe.Job) bool {
	for _, kind := range probe.TurnKinds() {
		if kind == probe.Followup && j.Workload.TurnsMax == 1 {
			continue
		}
		if o.Covers(j.Target.Name, j.Workload.Name, kind) {
			return true
		}
	}
	return false
}

// reachable reports a threshold that lies above the timeout of turns that it
// judges: those are given up before they could be measured as too slow, so the
// objective would only repeat availability.
func (b *builder) reachable(path string, o slo.Objective, jobs []probe.Job) {
	at := path + ".threshold"
	if !b.known || !b.selectorsFine(path) || !b.fine(at) {
		return
	}
	for _, j := range jobs {
		key, limit := limitOf(o.SLI, j)
		if limit == 0 || o.Threshold <= limit || !coversJob(o, j) {
			continue
		}
		timeout := fmt.Sprintf("timeouts.%s of workload %q, %v", key, j.Workload.Name, duration(limit))
		if b.has(path) {
			b.mistake(at, duration(o.Threshold).String(), "is longer than "+timeout+": only failed turns could violate it", fmt.Sprintf("write %v or less, or a longer timeout", duration(limit)))
		} else {
			b.mistake("slos", "", fmt.Sprintf("the default SLO %q has a threshold of %v, which is longer than %s", o.Name, duration(o.Threshold), timeout), "write slos, or a longer timeout")
		}
		return
	}
}

// limitOf is the timeout that ends a turn before an SLI could exceed it.
func limitOf(sli slo.SLI, j probe.Job) (key string, limit time.Duration) {
	t := j.Workload.Timeouts
	switch sli {
	case slo.TTFT:
		return "first_token", t.FirstToken
	case slo.TPOT, slo.ITL:
		return "stall", t.Stall
	case slo.AnswerTTFT, slo.TurnDuration:
		return "total", t.Total
	}
	return "", 0
}
