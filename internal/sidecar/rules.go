package sidecar

import (
	"maps"
	"slices"

	"synthetic/internal/fleet"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/discovery"
)

// RulesOf returns the input of the rules for a fleet. Closed-loop traffic has no rate known in advance.
func RulesOf(f fleet.Fleet) rules.Input {
	in := rules.Input{SLOs: f.SLOs}
	var labels []string // of targets
	for _, g := range f.Groups {
		in.Discovery = in.Discovery || g.Lease == 0
		labels = append(labels, "service") // a discovered target may have one
		labels = append(labels, discovery.LabelNames(g)...)
	}
	for _, j := range f.Jobs {
		if j.Target.Service != "" {
			labels = append(labels, "service")
		}
		labels = slices.AppendSeq(labels, maps.Keys(j.Target.Labels))
		perMinute := j.Traffic.Rate * 60
		turns := float64(j.Workload.TurnsMin+j.Workload.TurnsMax) / 2
		in.Jobs = append(in.Jobs, rules.Job{
			Target: j.Target.Name, Workload: j.Workload.Name,
			ConversationsPerMinute: perMinute, TurnsPerMinute: perMinute * turns,
			TurnTimeout: j.Workload.Timeouts.Total, ServerMetrics: j.ServerMetrics,
		})
	}
	slices.Sort(labels)
	in.TargetLabels = slices.Compact(labels)
	return in
}
