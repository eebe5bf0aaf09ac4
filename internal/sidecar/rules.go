package sidecar

import (
	"maps"
	"slices"

	"synthetic/internal/config"
	"synthetic/internal/rules"
)

// RulesOf returns the input of the rules for a configuration. Closed-loop traffic has no rate known in advance.
func RulesOf(cfg *config.Config) rules.Input {
	in := rules.Input{SLOs: cfg.SLOs}
	var labels []string // of targets
	for _, g := range cfg.Discovery {
		in.Discovery = in.Discovery || g.Lease == 0
		labels = append(labels, "service") // a discovered target may have one
		labels = append(labels, g.LabelNames()...)
	}
	for _, j := range cfg.Jobs {
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
