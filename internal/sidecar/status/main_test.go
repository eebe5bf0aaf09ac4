package status

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/watch"
	"synthetic/internal/slo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the time at which the tests look at their pages.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newPage returns a page that knows nothing of what is missing in the options.
func newPage(o Options) *Page {
	if o.Alerts == nil {
		o.Alerts = func() (none Alerts, ok bool) { return none, false }
	}
	if o.Baseline == nil {
		o.Baseline = func(probe.Key) (none watch.Reading, ok bool) { return none, false }
	}
	if o.Discovery == nil {
		o.Discovery = func() []discovery.Standing { return nil }
	}
	if o.Lag == nil {
		o.Lag = func() time.Duration { return 0 }
	}
	return New(o)
}

// pageAt returns a page with a fixed clock, which began an hour before.
func pageAt(now time.Time) *Page {
	p := newPage(Options{Now: func() time.Time { return now }})
	p.started = now.Add(-time.Hour)
	return p
}

// turn returns a good follow-up turn of target "t" and workload "w" that ended some time before
// noon. The changes are applied to it.
func turn(ago time.Duration, change ...func(*probe.Result)) probe.Result {
	end := noon.Add(-ago)
	r := probe.Result{
		Target: "t", Workload: "w", Kind: probe.Followup, Outcome: probe.Success, Sent: end.Add(-2 * time.Second), End: end,
		TTFT:   probe.Some(100 * time.Millisecond),
		TPOT:   probe.Some(20 * time.Millisecond),
		Asked:  probe.Asked{Model: "m", Conversation: "c1", Turn: 2, TraceID: fmt.Sprintf("%032x", ago), Scheduled: end.Add(-2 * time.Second)},
		Server: probe.Server{Status: 200},
		Timing: probe.Timing{Phases: probe.Phases{
			Reused:  true,
			Headers: probe.Some(50 * time.Millisecond), FirstEvent: probe.Some(60 * time.Millisecond),
		}, AnswerTTFT: probe.Some(100 * time.Millisecond), Gaps: []time.Duration{15 * time.Millisecond, 25 * time.Millisecond}},
		Tokens: probe.Tokens{PromptTokens: probe.Some(100), CachedTokens: probe.Some(80), OutputTokens: probe.Some(3)},
		Texts:  probe.Texts{Answer: "an answer"},
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

// failing makes a turn fail before its first token.
func failing(o probe.Outcome, err string) func(*probe.Result) {
	return func(r *probe.Result) {
		r.Outcome, r.Err = o, err
		r.TTFT, r.AnswerTTFT, r.TPOT = probe.Opt[time.Duration]{}, probe.Opt[time.Duration]{}, probe.Opt[time.Duration]{}
		r.Phases.FirstEvent = probe.Opt[time.Duration]{}
		r.Gaps = nil
		r.PromptTokens, r.CachedTokens, r.OutputTokens = probe.Opt[int]{}, probe.Opt[int]{}, probe.Opt[int]{}
	}
}

// ttft sets a turn's time to first token.
func ttft(d time.Duration) func(*probe.Result) {
	return func(r *probe.Result) { r.TTFT, r.AnswerTTFT = probe.Some(d), probe.Some(d) }
}

// first makes a turn the first of its conversation.
func first(r *probe.Result) { r.Turn, r.Kind = 1, probe.First }

// jobOf returns the job of a target and a workload with objectives.
func jobOf(target, workload string, o ...slo.Objective) fleet.Job {
	j := fleet.Job{Objectives: o}
	j.Target.Name, j.Workload.Name = target, workload
	return j
}

// feed gives turns to a page, each in its own conversation. It adds an unknown job.
func feed(p *Page, turns ...probe.Result) {
	for _, r := range turns {
		p.mu.Lock()
		known := p.jobs[r.Key()] != nil
		p.mu.Unlock()
		if !known {
			p.Add(jobOf(r.Target, r.Workload))
		}
		p.Observe(probe.ConversationStart{Target: r.Target, Workload: r.Workload})
		p.Observe(probe.Start{Target: r.Target, Workload: r.Workload, Kind: r.Kind})
		p.Observe(r)
		p.Observe(probe.Conversation{Target: r.Target, Workload: r.Workload})
	}
}

// objectives returns one of each kind.
func objectives() []slo.Objective {
	return []slo.Objective{
		{Name: "quick", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
		{Name: "answer", SLI: slo.AnswerTTFT, Threshold: time.Second, Objective: 0.99},
		{Name: "pace", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.95},
		{Name: "even", SLI: slo.ITL, Threshold: 20 * time.Millisecond, Objective: 0.5},
		{Name: "short", SLI: slo.TurnDuration, Threshold: time.Minute, Objective: 0.9},
		{Name: "up", SLI: slo.Availability, Objective: 0.999},
	}
}
