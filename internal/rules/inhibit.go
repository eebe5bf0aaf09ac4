package rules

import (
	"slices"

	"synthetic/internal/sidecar/metrics"
)

// Inhibition says what is not sent while something else fires: the alerts of
// Targets, while one of Sources fires that has the same values of the labels of
// Equal.
type Inhibition struct {
	// Why is a sentence for who reads the configuration of an Alertmanager.
	Why              string
	Sources, Targets []string
	// SourceLabels and TargetLabels restrict them: one of these values, each.
	SourceLabels, TargetLabels map[string][]string
	Equal                      []string
}

// Values of the label sli of burn alerts.
const (
	SLIAvailability = "availability"
	SLILatency      = "latency"
)

// Inhibitions are those that make one page of one fault, for an Alertmanager and
// for whatever counts pages. What an alert must not follow after its cause has
// ended is in the expressions of the rules (see holds.go): it then holds without
// an Alertmanager, too.
func Inhibitions() []Inhibition {
	job := perJob()
	burns := []string{AlertSLOFastBurn, AlertSLOSlowBurn, AlertBudgetExhausted}
	about := slices.Concat(burns, []string{
		AlertRegression, AlertReplicaSlow, AlertSLONoSamples, AlertCachedRatioDrop, AlertTargetBusy, AlertConversationsSkipped, AlertUsageMissing,
		AlertAnswersGarbled,
	})
	ofServer := []string{AlertServerMetricsUnreadable, AlertAcceptanceCollapse}
	latency := map[string][]string{labelSLI: {SLILatency}}
	return []Inhibition{
		{
			Why:     "A fault shared by many targets is one page, which lists them.",
			Sources: []string{AlertFleetRegression}, Targets: slices.Concat([]string{AlertTargetDown}, about, ofServer),
		},
		{
			Why:     "A target that is down or has no samples needs no other alert.",
			Sources: []string{AlertTargetDown, AlertTargetNoSamples}, Targets: about, Equal: job,
		},
		{
			Why:     "Then its server metrics are missing, too.",
			Sources: []string{AlertTargetDown, AlertTargetNoSamples}, Targets: ofServer, Equal: job[:1],
		},
		{
			Why:     "A silent prober explains missing samples.",
			Sources: []string{AlertProberSilent}, Targets: []string{AlertTargetNoSamples}, Equal: job,
		},
		{
			Why:     "A starved prober explains a stuck scheduler,",
			Sources: []string{AlertProberStarved}, Targets: []string{AlertSchedulerStuck}, Equal: []string{"instance"},
		},
		{
			Why:     "and conversations that it skips because it is late.",
			Sources: []string{AlertProberStarved}, Targets: []string{AlertConversationsSkipped},
			TargetLabels: map[string][]string{"reason": {"late"}},
		},
		{
			Why:     "A regression page explains missed latency SLOs.",
			Sources: []string{AlertRegression}, SourceLabels: map[string][]string{"severity": {"page"}},
			Targets: burns, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "A page about one slow replica explains the regression of that replica,",
			Sources: []string{AlertReplicaSlow}, SourceLabels: map[string][]string{metrics.LabelWorker: {""}},
			Targets: []string{AlertRegression}, Equal: job,
		},
		{
			Why:     "and its missed latency SLOs.",
			Sources: []string{AlertReplicaSlow}, SourceLabels: map[string][]string{metrics.LabelWorker: {""}},
			Targets: burns, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "Failed turns miss every SLO; only the availability SLO pages.",
			Sources: []string{AlertSLOFastBurn}, SourceLabels: map[string][]string{labelSLI: {SLIAvailability}},
			Targets: []string{AlertSLOFastBurn}, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "A fast burn explains a slow burn.",
			Sources: []string{AlertSLOFastBurn}, Targets: []string{AlertSLOSlowBurn, AlertBudgetExhausted}, Equal: job,
		},
	}
}
