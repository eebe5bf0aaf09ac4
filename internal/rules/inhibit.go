package rules

import (
	"slices"

	"synthetic/internal/slo"
)

// Inhibition is an inhibition rule of an Alertmanager: while an alert of Sources fires, the alerts of
// Targets with the same values of the labels Equal are not sent.
type Inhibition struct {
	// Why explains the rule to readers of the Alertmanager's configuration.
	Why              string
	Sources, Targets []string
	// SourceLabels and TargetLabels restrict the alerts to those with one of the values of each
	// label.
	SourceLabels, TargetLabels map[string][]string
	Equal                      []string
}

// Values of the label sli of burn alerts.
const (
	SLIAvailability = "availability"
	SLILatency      = "latency"
)

// Inhibitions returns the rules that reduce the alerts of one fault to one page. After the fault has
// ended, the expressions of the rules themselves hold back alerts that would follow; see holds.go.
func Inhibitions() []Inhibition {
	job := perJob()
	burns := []string{alertSLOFastBurn, alertSLOSlowBurn}
	jobAlerts := slices.Concat(burns, []string{
		AlertRegression, alertReplicaSlow, alertSLONoSamples, alertCachedRatioDrop, alertTargetBusy, alertConversationsSkipped, alertOddAnswers,
	})
	latency := map[string][]string{labelSLI: {SLILatency}}
	return []Inhibition{
		{
			Why:     "If many targets share a fault, one page lists them. An outage of another target still pages.",
			Sources: []string{AlertFleetRegression}, Targets: jobAlerts,
		},
		{
			Why:     "A target that is down or has no samples needs no other alert.",
			Sources: []string{AlertTargetDown, alertTargetNoSamples}, Targets: jobAlerts, Equal: job,
		},
		{
			Why:     "A silent prober explains missing samples.",
			Sources: []string{alertProberSilent}, Targets: []string{alertTargetNoSamples}, Equal: job,
		},
		{
			Why:     "A starved prober explains a stuck scheduler,",
			Sources: []string{alertProberStarved}, Targets: []string{alertSchedulerStuck}, Equal: []string{"instance"},
		},
		{
			Why:     "and conversations that it skips because it is late.",
			Sources: []string{alertProberStarved}, Targets: []string{alertConversationsSkipped},
			TargetLabels: map[string][]string{"reason": {"late"}},
		},
		{
			Why:     "A regression page explains missed latency SLOs.",
			Sources: []string{AlertRegression}, SourceLabels: map[string][]string{"severity": {"page"}},
			Targets: burns, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "A page about foreign answers explains a missed share of right ones.",
			Sources: []string{alertForeignAnswers},
			Targets: burns, TargetLabels: map[string][]string{labelSLI: {string(slo.Correct)}}, Equal: job,
		},
		{
			Why:     "A regression page explains that a replica is slower than the others of its service.",
			Sources: []string{AlertRegression}, SourceLabels: map[string][]string{"severity": {"page"}},
			Targets: []string{alertReplicaSlow}, Equal: job,
		},
		{
			Why:     "A page about one slow replica explains missed latency SLOs.",
			Sources: []string{alertReplicaSlow},
			Targets: burns, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "Failed turns miss every SLO; only the availability SLO pages.",
			Sources: []string{alertSLOFastBurn}, SourceLabels: map[string][]string{labelSLI: {SLIAvailability}},
			Targets: []string{alertSLOFastBurn}, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "A fast burn explains a slow burn.",
			Sources: []string{alertSLOFastBurn}, Targets: []string{alertSLOSlowBurn}, Equal: job,
		},
	}
}
