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
			Why:     "A fault that many targets share is one page, which lists them.",
			Sources: []string{AlertFleetRegression}, Targets: slices.Concat([]string{AlertTargetDown}, about, ofServer),
		},
		{
			Why:     "A deployment that is down, or gives no samples, is nothing else besides.",
			Sources: []string{AlertTargetDown, AlertTargetNoSamples}, Targets: about, Equal: job,
		},
		{
			Why:     "Nor do its servers say anything of their own.",
			Sources: []string{AlertTargetDown, AlertTargetNoSamples}, Targets: ofServer, Equal: job[:1],
		},
		{
			Why:     "A prober that sees nothing cannot say that samples are missing elsewhere.",
			Sources: []string{AlertProberSilent}, Targets: []string{AlertTargetNoSamples}, Equal: job,
		},
		{
			Why:     "A prober that is starved is late in all it does.",
			Sources: []string{AlertProberStarved}, Targets: []string{AlertSchedulerStuck}, Equal: []string{"instance"},
		},
		{
			Why:     "So are the conversations that it skips for that.",
			Sources: []string{AlertProberStarved}, Targets: []string{AlertConversationsSkipped},
			TargetLabels: map[string][]string{"reason": {"late"}},
		},
		{
			Why:     "A page on a regression explains the latency objectives that it costs.",
			Sources: []string{AlertRegression}, SourceLabels: map[string][]string{"severity": {"page"}},
			Targets: burns, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "So does one on a replica that is unlike its siblings, which also says what its own history would.",
			Sources: []string{AlertReplicaSlow}, SourceLabels: map[string][]string{metrics.LabelWorker: {""}},
			Targets: []string{AlertRegression}, Equal: job,
		},
		{
			Why:     "Nor need its objectives be told.",
			Sources: []string{AlertReplicaSlow}, SourceLabels: map[string][]string{metrics.LabelWorker: {""}},
			Targets: burns, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "Turns that fail miss every objective: the availability says so.",
			Sources: []string{AlertSLOFastBurn}, SourceLabels: map[string][]string{labelSLI: {SLIAvailability}},
			Targets: []string{AlertSLOFastBurn}, TargetLabels: latency, Equal: job,
		},
		{
			Why:     "What is quick to see explains what is slow to see.",
			Sources: []string{AlertSLOFastBurn}, Targets: []string{AlertSLOSlowBurn, AlertBudgetExhausted}, Equal: job,
		},
	}
}
