package load

import (
	"context"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// maxLate is how late a start may be. After a pause of the machine or a lack of CPU, the missed
// starts are counted as skipped. Starting them all at once would measure a burst of our own
// making. A shorter pause starts at most Rate conversations at once.
const maxLate = time.Second

// asleep is the reason outside of the hours of the traffic. It does not count as a skip.
const asleep = "hours"

// runner runs one job: its model discovery, its loop and its budget.
type runner struct {
	Options // with the job's own Logger
	job     probe.Job
	key     probe.Key
	id      int
	hash    uint64

	prober Prober
	source *workload.Source
	budget *workload.Budget
	model  model
	heart  heart

	// turnsCtx ends when turns in flight are cut. startsCtx, derived from it, ends when nothing
	// more may start; stopStarts ends it.
	turnsCtx, startsCtx context.Context
	stopStarts          context.CancelFunc

	// pending is a conversation that a budget refused. It is the next to start: if it was
	// dropped, only cheap conversations would run. Only next uses it.
	pending *workload.Conversation
	bursts  bursts
}

// bursts changes the rate of a job. Only the loop's goroutine uses pace and now.
type bursts struct {
	pace *workload.Pace // nil for a constant rate
	// now is true if the current start belongs to a burst.
	now bool
	// ages is shared by the conversations and the loop.
	ages *workload.Ages
}

func newRunner(s *Scheduler, j probe.Job, hash uint64, source *workload.Source, prober Prober) *runner {
	r := &runner{
		Options: s.opts, job: j, key: j.Key(), id: s.made, hash: hash,
		prober: prober, source: source,
		budget:   workload.NewBudget(j.Traffic.Budget),
		bursts:   bursts{pace: workload.NewPace(j.Traffic), ages: workload.NewAges(j.Workload.Timeouts)},
		model:    model{firstAnswer: make(chan struct{}), refused: make(chan struct{}, 1)},
		turnsCtx: s.turnsCtx,
	}
	r.Logger = r.Logger.With("target", j.Target.Name, "workload", j.Workload.Name)
	r.model.name.Store(&j.Target.Model)
	r.startsCtx, r.stopStarts = context.WithCancel(s.turnsCtx)
	r.heart.beat()
	return r
}

// run runs the loop until stopStarts is called, and waits for the last conversation.
func (r *runner) run() {
	defer r.prober.Close()
	defer r.source.Close()
	var discovery sync.WaitGroup
	defer discovery.Wait()
	discovery.Go(r.discoverModel)
	// The previous runner of this job may have ended in a burst.
	r.reportRate(r.job.Traffic.Rate, "")
	// Wait for the first answer, because a request without a model name would fail and the
	// deployment would be blamed.
	if !await(r.startsCtx, r.model.firstAnswer, r.heart.beat) {
		return
	}
	loop := Loop{
		Arrival: r.job.Traffic.Arrival, MaxConcurrency: r.job.Traffic.MaxConcurrency, MaxLate: maxLate,
		Seed:    r.hash ^ workload.Hash("arrivals") ^ r.job.Workload.Seed,
		Replica: r.hash,
		Next:    r.next,
		OnSkip: func(_ time.Time, reason string) {
			if reason != asleep {
				r.Sink.Observe(probe.Skip{Target: r.key.Target, Workload: r.key.Workload, Reason: reason})
			}
		},
		OnBeat: r.heart.beat,
	}
	if r.bursts.pace != nil {
		loop.Rate, loop.Decide = r.bursts.pace.BurstRate, r.decide
	}
	loop.Run(r.startsCtx)
}

// decide decides whether a start takes place, and reports a changed rate.
func (r *runner) decide(at time.Time) workload.Start {
	sign := r.Sign(r.key)
	sign.Overdue = r.bursts.ages.Overdue(time.Now())
	start := r.bursts.pace.Decide(at, sign)
	r.bursts.now = start.Burst
	if start.Changed {
		r.reportRate(r.bursts.pace.Rate(), start.Reason)
	}
	return start
}

func (r *runner) reportRate(rate float64, why string) {
	r.Sink.Observe(probe.Paced{Target: r.key.Target, Workload: r.key.Workload, Rate: rate, Why: why})
}

// next plans a conversation and reserves its memory and tokens. It returns a skip reason if a
// budget has too little left.
func (r *runner) next(due time.Time) (run func() probe.Outcome, skipReason string) {
	if !r.job.Traffic.Hours.Cover(due) {
		return nil, asleep
	}
	if r.pending == nil {
		c := r.source.Next()
		r.pending = &c
	}
	claim, ok := r.Memory.Claim(probe.Cost(&r.job.Workload, r.pending.Opening))
	if !ok {
		return nil, probe.SkipMemory
	}
	c := &conversation{
		runner: r, plan: *r.pending, burst: r.bursts.now, claim: claim, estimate: r.source.Estimate(*r.pending),
	}
	if !r.budget.Allow(time.Now(), c.estimate, r.bursts.now) {
		claim.Release()
		return nil, probe.SkipBudget
	}
	r.pending = nil
	return func() probe.Outcome { return c.run(due) }, ""
}
