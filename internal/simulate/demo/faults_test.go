package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/sidecar/sink"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/tools/testkit/stage"
)

const (
	outageBound = 2 * time.Minute
	// burnBound is how long the burn rate of the SLO needs if a fifth of the turns fail after a
	// healthy hour: 14.4 × 0.5 % of 60 minutes / 20 %.
	burnBound = 22 * time.Minute
	// smallBound is for a level of less than twice the baseline. Windows of up to half an hour must
	// show it.
	smallBound = 35 * time.Minute
)

// regressionPage is for a level of at least twice the baseline.
func regressionPage(part string) want {
	return want{alert: "SyntheticRegression", severity: "page", part: part}
}

// smallRegression is for a level of less than twice the baseline: a ticket, or the page of an
// objective, which replaces the ticket and names the same part.
func smallRegression(part string) want {
	return want{alert: "SyntheticRegression|SyntheticSLOFastBurn", part: part, within: smallBound}
}

// outagePage is for an outage, which suppresses alerts on regressions.
func outagePage() want { return want{alert: "SyntheticTargetDown", within: outageBound} }

func availabilityPage() want {
	return want{alert: "SyntheticSLOFastBurn", slo: "availability", within: burnBound}
}

// fifthTimesOut is for a fifth of the turns that wait until their timeout.
func fifthTimesOut(part string) want {
	return want{alert: "SyntheticRegression", severity: "page", part: part, within: burnBound}
}

// thirdTimesOut is for a third of the turns that wait until their timeout. A turn counts as at most
// e² times the baseline, so the level is near twice the baseline, not three times. It pages at the
// latest after the window for levels of less than twice the baseline.
func thirdTimesOut(part string) want {
	return want{alert: "SyntheticRegression", severity: "page", part: part, within: sink.DefaultPolicy().PageFor}
}

// failsAtOnce marks a trial of turns that fail without waiting.
func failsAtOnce(c trial) trial {
	c.failsAtOnce = true
	return c
}

// faults returns a trial of every kind of incident that changes more than the content of answers, and
// of two network faults.
func faults(t *testing.T) []trial {
	oneGPU := func(incident string, length time.Duration, wants ...want) trial {
		return incidentTrial(t, busyTarget("demo", "phase0", 34), incident, length, wants...)
	}
	threeWorkers := func(incident string, length time.Duration, wants ...want) trial {
		return incidentTrial(t, busyTarget("demo", "trtllm-rr", 60), incident, length, wants...)
	}
	const short, long = 6 * time.Minute, 35 * time.Minute
	return []trial{
		oneGPU("slow_prefill,factor=6", short, regressionPage("queue_prefill")),
		oneGPU("slow_prefill,factor=3", short, regressionPage("queue_prefill")),
		oneGPU("slow_decode,factor=3", short, regressionPage("decode")),
		oneGPU("slow_decode,factor=2", short, regressionPage("decode")),
		oneGPU("slow_decode,factor=1.4", long, smallRegression("decode")),
		oneGPU("slow_network,factor=10", short, regressionPage("queue_prefill")),
		acceptanceTrial(t),
		coldCacheTrial(),
		oneGPU("hang", short, outagePage()),
		threeWorkers("hang,workers=1", short, availabilityPage(), thirdTimesOut("queue_prefill")),
		oneGPU("worker_loss", short, outagePage()),
		threeWorkers("worker_loss,workers=1", long, smallRegression("decode")),
		threeWorkers("slow_decode,factor=3,workers=1", long, smallRegression("decode")),
		failsAtOnce(oneGPU("http_500,share=0.2", short, availabilityPage())),
		failsAtOnce(oneGPU("http_500,share=1", short, outagePage())),
		failsAtOnce(oneGPU("http_429,share=0.3", 12*time.Minute, availabilityPage(), want{alert: "SyntheticTargetBusy", within: 20 * time.Minute})),
		oneGPU("no_answer,share=0.2", 12*time.Minute, availabilityPage(), fifthTimesOut("queue_prefill")),
		oneGPU("no_answer,share=1", short, outagePage()),
		failsAtOnce(oneGPU("cut,share=0.2", 12*time.Minute, availabilityPage())),
		failsAtOnce(oneGPU("cut,share=1", short, outagePage())),
		oneGPU("stall,share=0.2", 12*time.Minute, availabilityPage(), fifthTimesOut("decode")),
		oneGPU("stall,share=1", short, outagePage()),
		failsAtOnce(oneGPU("error_event,share=0.2", 12*time.Minute, availabilityPage())),
		failsAtOnce(oneGPU("error_event,share=1", short, outagePage())),
		failsAtOnce(networkTrial("nobody listens", short, func(p *simulate.Pipes) { _ = p.Close() }, outagePage())),
		networkTrial("a connection takes 2 s", short, func(p *simulate.Pipes) { p.DialDelay.Store(int64(2 * time.Second)) }, regressionPage("connect")),
	}
}

// incidentTrial returns a trial of one incident.
func incidentTrial(t *testing.T, target Target, incident string, length time.Duration, wants ...want) trial {
	t.Helper()
	i, err := simulate.ParseIncident(incident)
	if err != nil {
		t.Fatal(err)
	}
	i.At = pause
	target.Options.Incidents = []simulate.Incident{i}
	return trial{name: incident, target: target, length: length, wants: wants}
}

// acceptanceTrial has a drafter whose drafts are suddenly rejected.
func acceptanceTrial(t *testing.T) trial {
	target := busyTarget("demo", "eagle3", 34)
	target.Options.Cluster.Engine.Speculation.Acceptance = 0.7
	c := incidentTrial(t, target, "acceptance,factor=0.1", 6*time.Minute, regressionPage("decode"))
	c.learnsBaseline = true
	return c
}

// coldCacheTrial empties the prefix cache every 2 seconds.
func coldCacheTrial() trial {
	target := busyTarget("demo", "phase0", 34)
	const length = 35 * time.Minute
	for at := pause; at < pause+length; at += 2 * time.Second {
		target.Options.Incidents = append(target.Options.Incidents, simulate.Incident{Kind: cluster.ColdCache, At: at})
	}
	return trial{name: "cold_cache, every 2 s", target: target, length: length, wants: []want{
		regressionPage("queue_prefill"), {alert: "SyntheticCachedRatioDrop", within: length},
	}}
}

// networkTrial returns a trial of a fault between prober and deployment.
func networkTrial(name string, length time.Duration, do func(*simulate.Pipes), wants ...want) trial {
	return trial{
		name: name, target: busyTarget("demo", "phase0", 34), length: length, wants: wants,
		acts: []stage.Act{{After: pause, Do: func(_ *simulate.Deployment, p *simulate.Pipes) { do(p) }}},
	}
}

// TestFaultsCoverEveryIncident checks that faults has every kind, except those of wrong answers.
func TestFaultsCoverEveryIncident(t *testing.T) {
	all := faults(t)
	wrongAnswers := []simulate.IncidentKind{
		simulate.Exclamations, simulate.Repetition, simulate.WrongScript, simulate.OtherModel,
		simulate.NewFingerprint, simulate.BadArguments, simulate.ToolMarkup, simulate.Buffered, simulate.Foreign, simulate.ContextCut, simulate.Salad, simulate.Stale,
	}
	for _, kind := range simulate.IncidentKinds() {
		if !slices.Contains(wrongAnswers, kind) && !slices.ContainsFunc(all, func(c trial) bool { return strings.HasPrefix(c.name, string(kind)) }) {
			t.Errorf("no trial of the incident %q", kind)
		}
	}
}
