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
	// burnBound is how long the SLO's burn rate needs where a fifth of the turns
	// fail and an hour of health lies behind: 14.4 × 0.5 % of 60 minutes / 20 %.
	burnBound = 22 * time.Minute
	// riseBound is for a level of less than twice the usual, which windows of up to
	// half an hour must show.
	riseBound = 35 * time.Minute
)

// What a fault should be told by.
func jumps(part string) want {
	return want{alert: "SyntheticRegression", severity: "page", part: part}
}

// rises is a level of less than twice the usual: a ticket, or the page of an
// objective that it misses, which holds the ticket back and names the same part.
func rises(part string) want {
	return want{alert: "SyntheticRegression|SyntheticSLOFastBurn", part: part, within: riseBound}
}

// down is an outage: while it lasts no regression is told of.
func down() want { return want{alert: "SyntheticTargetDown", within: outageBound} }

func burns() want {
	return want{alert: "SyntheticSLOFastBurn", slo: "availability", within: burnBound}
}

// tails is a fifth of the turns that wait until they are given up.
func tails(part string) want {
	return want{alert: "SyntheticRegression", severity: "page", part: part, within: burnBound}
}

// waits is a third of the turns that wait until they are given up. However long that
// is, no turn counts as more than e² times the usual, so that the level is near twice
// the usual and not three times: it pages at the latest when it has lasted as long as
// one of less than twice must, and has filled the window of that length.
func waits(part string) want {
	return want{alert: "SyntheticRegression", severity: "page", part: part, within: sink.DefaultPolicy().PageFor}
}

// failing marks a trial of turns that fail outright.
func failing(c trial) trial {
	c.outright = true
	return c
}

// faults lists what can go wrong, as --incident says it. Every kind of incident
// is among them, but those that only an answer's words tell.
func faults(t *testing.T) []trial {
	one := func(incident string, lasts time.Duration, wants ...want) trial {
		return befalling(t, Busy("demo", "phase0", 34), incident, lasts, wants...)
	}
	ofThree := func(incident string, lasts time.Duration, wants ...want) trial {
		return befalling(t, Busy("demo", "trtllm-rr", 60), incident, lasts, wants...)
	}
	const short, long = 6 * time.Minute, 35 * time.Minute
	return []trial{
		one("slow_prefill,factor=6", short, jumps("queue_prefill")),
		one("slow_prefill,factor=3", short, jumps("queue_prefill")),
		one("slow_decode,factor=3", short, jumps("decode")),
		one("slow_decode,factor=2", short, jumps("decode")),
		one("slow_decode,factor=1.4", long, rises("decode")),
		one("slow_network,factor=10", short, jumps("queue_prefill")),
		accepting(t),
		coldAlways(),
		one("hang", short, down()),
		ofThree("hang,workers=1", short, burns(), waits("queue_prefill")),
		one("worker_loss", short, down()),
		ofThree("worker_loss,workers=1", long, rises("decode")),
		ofThree("slow_decode,factor=3,workers=1", long, rises("decode")),
		failing(one("http_500,share=0.2", short, burns())),
		failing(one("http_500,share=1", short, down())),
		failing(one("http_429,share=0.3", 12*time.Minute, burns(), want{alert: "SyntheticTargetBusy", within: 20 * time.Minute})),
		one("no_answer,share=0.2", 12*time.Minute, burns(), tails("queue_prefill")),
		one("no_answer,share=1", short, down()),
		failing(one("cut,share=0.2", 12*time.Minute, burns())),
		failing(one("cut,share=1", short, down())),
		one("stall,share=0.2", 12*time.Minute, burns(), tails("decode")),
		one("stall,share=1", short, down()),
		failing(one("error_event,share=0.2", 12*time.Minute, burns())),
		failing(one("error_event,share=1", short, down())),
		failing(onTheWay("nobody listens", short, func(p *simulate.Pipes) { _ = p.Close() }, down())),
		onTheWay("a connection takes 2 s", short, func(p *simulate.Pipes) { p.Slow.Store(int64(2 * time.Second)) }, jumps("connect")),
	}
}

// befalling is a trial of one incident.
func befalling(t *testing.T, target Target, incident string, lasts time.Duration, wants ...want) trial {
	t.Helper()
	i, err := simulate.ParseIncident(incident)
	if err != nil {
		t.Fatal(err)
	}
	i.At = pause
	target.Options.Incidents = []simulate.Incident{i}
	return trial{name: incident, target: target, lasts: lasts, wants: wants}
}

// accepting is a deployment whose drafter is good until it is not.
func accepting(t *testing.T) trial {
	target := Busy("demo", "eagle3", 34)
	target.Options.Cluster.Engine.Speculation.Acceptance = 0.7
	c := befalling(t, target, "acceptance,factor=0.1", 6*time.Minute, jumps("decode"))
	c.learns = true
	return c
}

// coldAlways is a prefix cache that keeps nothing.
func coldAlways() trial {
	target := Busy("demo", "phase0", 34)
	const lasts = 35 * time.Minute
	for at := pause; at < pause+lasts; at += 2 * time.Second {
		target.Options.Incidents = append(target.Options.Incidents, simulate.Incident{Kind: cluster.ColdCache, At: at})
	}
	return trial{name: "cold_cache, every 2 s", target: target, lasts: lasts, wants: []want{
		jumps("queue_prefill"), {alert: "SyntheticCachedRatioDrop", within: lasts},
	}}
}

// onTheWay is a trial of what happens before a deployment is reached.
func onTheWay(name string, lasts time.Duration, do func(*simulate.Pipes), wants ...want) trial {
	return trial{
		name: name, target: Busy("demo", "phase0", 34), lasts: lasts, wants: wants,
		acts: []stage.Act{{After: pause, Do: func(_ *simulate.Deployment, p *simulate.Pipes) { do(p) }}},
	}
}

// TestFaultsCoverEveryIncident keeps the list whole.
func TestFaultsCoverEveryIncident(t *testing.T) {
	all := faults(t)
	for _, kind := range simulate.IncidentKinds() {
		if !slices.Contains(simulate.AnswerKinds(), kind) && !slices.ContainsFunc(all, func(c trial) bool { return strings.HasPrefix(c.name, string(kind)) }) {
			t.Errorf("no trial of the incident %q", kind)
		}
	}
}
