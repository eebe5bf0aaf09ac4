package rules_test

import (
	"fmt"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/watch"
)

// behaviour returns the result of the n-th turn. Its times are relative to the start of the turn.
type behaviour func(n int, kind probe.TurnKind) probe.Result

// ok is a turn that meets every objective of the tests.
func ok(int, probe.TurnKind) probe.Result {
	return probe.Result{
		Outcome: probe.Success, TTFT: probe.Some(200 * time.Millisecond),
		TPOT: probe.Some(20 * time.Millisecond), Timing: probe.Timing{Kernel: true, Events: 10},
		Tokens: probe.Tokens{PromptTokens: probe.Some(100), OutputTokens: probe.Some(10)},
	}
}

// failing turns end without a first token.
func failing(o probe.Outcome) behaviour {
	return func(int, probe.TurnKind) probe.Result { return probe.Result{Outcome: o} }
}

// slow turns succeed but are late.
func slow(n int, kind probe.TurnKind) probe.Result {
	r := ok(n, kind)
	r.TTFT = probe.Some(3 * time.Second)
	return r
}

// oneIn gives each n-th turn another behaviour.
func oneIn(every int, bad, good behaviour) behaviour {
	return func(n int, kind probe.TurnKind) probe.Result {
		if n%every == every-1 {
			return bad(n, kind)
		}
		return good(n, kind)
	}
}

// with changes the results of a behaviour.
func with(b behaviour, change func(*probe.Result)) behaviour {
	return func(n int, kind probe.TurnKind) probe.Result {
		r := b(n, kind)
		change(&r)
		return r
	}
}

// prober is a replica: a Recorder that a script drives instead of connections.
type prober struct {
	instance string
	clock    *time.Time
	jobs     []rules.Job
	// configured is what the recorder knows of its jobs.
	configured []fleet.Job
	recorder   *metrics.Recorder
	// sinks are the baselines and the recorder, which reads them.
	sinks fleet.Fanout
	// share is its part of the jobs' rates.
	share float64
	// due holds the fraction of a conversation that is left over, turns how
	// many turns were taken, by job.
	due   map[rules.Job]float64
	turns map[rules.Job]int

	// What the script sets.
	behave behaviour
	// down: the process does not run and is not scraped.
	down bool
	// silent loops have heartbeats and start no conversations; stuck loops have no heartbeats.
	silent, stuck bool
	beat          time.Time
	// cut: the prober ends each conversation after its last turn, as for a restart.
	cut bool
	// late is the lag of the process.
	late time.Duration
}

// restart starts a new process, whose counters begin at 0.
func (p *prober) restart() {
	p.beat = *p.clock
	now := func() time.Time { return *p.clock }
	baselines := watch.NewTracker(watch.TrackerOptions{Now: now})
	p.recorder = metrics.NewRecorder(metrics.Options{
		Now:       now,
		Baselines: baselines,
		Build:     metrics.Build{Version: "test"},
		Heartbeat: func(probe.Key) time.Time { return p.beat },
		Lag:       func() time.Duration { return p.late },
	})
	p.sinks = fleet.Fanout{baselines, p.recorder}
	p.apply(p.configured)
	p.recorder.SetReload(true, *p.clock)
}

// apply adds jobs to the recorder, or changes their configuration.
func (p *prober) apply(jobs []fleet.Job) {
	for _, j := range jobs {
		p.sinks.Add(j)
	}
}

// forget removes all jobs from the recorder.
func (p *prober) forget() {
	for _, j := range p.configured {
		p.sinks.Remove(j.Key())
	}
}

// minute runs all turns of a minute. They end within its last second, so that the next scrape contains
// them.
func (p *prober) minute() {
	if p.down || p.stuck {
		return
	}
	p.beat = *p.clock
	if p.silent {
		return
	}
	for _, j := range p.jobs {
		p.due[j] += p.share * j.ConversationsPerMinute
		for p.due[j] >= 1 {
			p.due[j]--
			p.converse(j)
		}
	}
}

// converse runs the turns of one conversation, which ends with a failed turn.
func (p *prober) converse(j rules.Job) {
	turns := max(1, int(j.TurnsPerMinute/j.ConversationsPerMinute))
	p.sinks.Observe(probe.ConversationStart{Target: j.Target, Workload: j.Workload})
	c := probe.Conversation{Target: j.Target, Workload: j.Workload, Outcome: probe.Success, Scheduled: *p.clock, End: *p.clock}
	for i := 0; i < turns && c.Outcome == probe.Success; i++ {
		r := p.turn(j, i)
		c.Outcome, c.TraceID = r.Outcome, r.TraceID
	}
	if p.cut {
		c.Outcome = probe.Canceled
	}
	p.sinks.Observe(c)
}

func (p *prober) turn(j rules.Job, i int) probe.Result {
	kind := probe.Followup
	if i == 0 {
		kind = probe.First
	}
	r := p.behave(p.turns[j], kind)
	p.turns[j]++
	r.Target, r.Workload, r.Kind = j.Target, j.Workload, kind
	r.TraceID = fmt.Sprintf("%s-%d", p.instance, p.turns[j])
	r.Scheduled, r.Lag = *p.clock, p.late
	r.Sent, r.End = *p.clock, *p.clock
	p.sinks.Observe(probe.Start{Target: j.Target, Workload: j.Workload, Kind: kind})
	p.sinks.Observe(r)
	return r
}
