package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
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
func (b *builder) slos(in []fileSLO, jobs []probe.Job) []slo.Objective {
	if !b.Has("slos") {
		for i := 0; b.known && i < len(defaultSLOs()); i++ {
			b.reachable("slos[0]", defaultSLOs()[i], jobs)
		}
		return defaultSLOs()
	}
	taken := map[string]string{}
	out := make([]slo.Objective, len(in))
	for i, s := range in {
		path := yamlform.Index("slos", i)
		out[i] = slo.Objective{
			Name: cmp.Or(s.Name, string(s.SLI)), SLI: s.SLI, Threshold: s.Threshold, Objective: float64(s.Objective),
			Window: s.Window, Targets: s.Targets, Workloads: s.Workloads, Turns: s.Turns,
		}
		b.Name(path, out[i].Name, "SLO", taken)
		b.threshold(path, s)
		b.selected(path+".targets", s.Targets, b.targetNames, "target", "targets")
		b.selected(path+".workloads", s.Workloads, b.workloadNames, "workload", "workloads")
		if b.known && !b.Wrong(path) && b.Valid(path+".sli", path+".targets", path+".workloads", path+".turns") {
			b.covers(path, out[i], jobs)
			b.reachable(path, out[i], jobs)
		}
	}
	return out
}

// threshold checks that there is one exactly where the SLI has a size.
func (b *builder) threshold(path string, s fileSLO) {
	at := path + ".threshold"
	switch {
	case !b.Valid(path + ".sli"):
	case s.SLI == slo.Availability && b.Has(at):
		b.Mistake(at, "", "has no meaning for availability, which counts failed turns", "remove it")
	case s.SLI != slo.Availability && !b.Has(at) && b.Valid(at):
		b.Mistake(at, "", "is missing", "write the highest good value, for example threshold: 1s")
	}
}

// covers reports an objective that no turn will ever be judged by.
func (b *builder) covers(path string, o slo.Objective, jobs []probe.Job) {
	if !slices.ContainsFunc(jobs, func(j probe.Job) bool { return coversJob(o, j) }) {
		b.Mistake(path, o.Name, "covers no traffic, so that it could never be violated", "widen its targets, workloads or turns, or remove it")
	}
}

func coversJob(o slo.Objective, j probe.Job) bool {
	return slices.ContainsFunc(kindsOf(j.Workload), func(kind probe.TurnKind) bool {
		return o.Covers(j.Target.Name, j.Workload.Name, kind)
	})
}

// reachable reports a threshold that lies above the timeout of turns that it
// judges: those are given up before they could be measured as too slow, so the
// objective would only repeat availability.
func (b *builder) reachable(path string, o slo.Objective, jobs []probe.Job) {
	at := path + ".threshold"
	for _, j := range jobs {
		key, limit := limitOf(o.SLI, j.Workload.Timeouts)
		if limit == 0 || o.Threshold <= limit || !coversJob(o, j) || !b.Valid(at) {
			continue
		}
		threshold, most := model.Duration(o.Threshold), model.Duration(limit)
		timeout := fmt.Sprintf("timeouts.%s of workload %q, %v", key, j.Workload.Name, most)
		if b.Has(path) {
			b.Mistake(at, threshold.String(), "is longer than "+timeout+": only failed turns could violate it", fmt.Sprintf("write %v or less, or a longer timeout", most))
		} else {
			b.Mistake("slos", "", fmt.Sprintf("the default SLO %q has a threshold of %v, which is longer than %s", o.Name, threshold, timeout), "write slos, or a longer timeout")
		}
		return
	}
}

// limitOf is the timeout that ends a turn before an SLI could exceed it.
func limitOf(sli slo.SLI, t workload.Timeouts) (key string, limit time.Duration) {
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

// kindsOf lists the kinds of turn that a workload has.
func kindsOf(w workload.Spec) []probe.TurnKind {
	if w.TurnsMax == 1 {
		return []probe.TurnKind{probe.First}
	}
	return probe.TurnKinds()
}
