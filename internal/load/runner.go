package load

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// maxLate is how overdue a start may be. After a hiccup (a paused machine, no
// CPU for a while) the missed starts are counted as skipped instead of fired
// in one burst, which would measure our own stampede. At a rate of r/s a
// shorter hiccup makes at most r starts at once.
const maxLate = time.Second

// runner runs one job: its loop, within its budget, and the conversations.
type runner struct {
	job  probe.Job
	key  probe.Key
	id   int
	hash uint64
	sink probe.Sink
	log  *slog.Logger

	prober Prober
	source *workload.Source
	budget *workload.Budget
	memory *bound.Budget
	model  model
	watch  watch

	// hard ends when turns in flight are to be cut, soft (inside hard) when
	// nothing more is to be started; halt ends soft.
	hard, soft context.Context
	halt       context.CancelFunc

	// pending was planned and refused for a budget. It is the next to start:
	// passing over dear conversations would leave only the cheap ones. It is
	// the loop's, in next.
	pending *workload.Conversation
	// pace is nil for a rate that does not change; sign is what it answers to, and
	// extra says that the start that is due is one of a burst. All are the loop's.
	pace  *workload.Pace
	sign  func(probe.Key) workload.Sign
	extra bool
}

func newRunner(s *Scheduler, j probe.Job, id int, hash uint64, source *workload.Source, prober Prober) *runner {
	r := &runner{
		job: j, key: j.Key(), id: id, hash: hash,
		sink: s.opts.Sink,
		log:  s.opts.Logger.With("target", j.Target.Name, "workload", j.Workload.Name),

		prober: prober,
		source: source,
		budget: workload.NewBudget(j.Traffic),
		memory: s.opts.Memory,
		pace:   workload.NewPace(j.Traffic),
		sign:   s.opts.Sign,
		model:  model{asked: make(chan struct{}), missing: make(chan struct{}, 1)},
		watch:  watch{open: map[*expectation]bool{}},
		hard:   s.hard,
	}
	r.model.known.Store(&j.Target.Model)
	r.soft, r.halt = context.WithCancel(s.hard)
	r.watch.beat()
	return r
}

// run starts conversations until the runner is halted, and returns when the
// last of them is over.
func (r *runner) run() {
	defer r.prober.Close()
	defer r.source.Close()
	var discovery sync.WaitGroup
	defer discovery.Wait()
	discovery.Go(r.discoverModel)
	// Its former self may have ended in a burst.
	r.report("its rate", probe.Paced{Target: r.key.Target, Workload: r.key.Workload, Rate: r.job.Traffic.Rate})
	// The first question for the model comes before the first conversation:
	// a request without a model would blame the deployment for our haste.
	if !await(r.soft, r.model.asked, r.watch.beat) {
		return
	}
	loop := Loop{
		Arrival: r.job.Traffic.Arrival, MaxConcurrency: r.job.Traffic.MaxConcurrency, MaxLate: maxLate,
		Seed:    r.hash ^ workload.Hash("arrivals") ^ r.job.Workload.Seed,
		Replica: r.hash,
		Next:    r.next,
		OnSkip: func(_ time.Time, reason string) {
			r.report("a skipped conversation", probe.Skip{Target: r.key.Target, Workload: r.key.Workload, Reason: reason})
		},
		OnBeat: r.watch.beat,
	}
	if r.pace != nil {
		loop.Rate, loop.Decide = r.pace.BurstRate, r.due
	}
	loop.Run(r.soft)
}

// due decides on a start of the process, and tells of another rate.
func (r *runner) due(at time.Time) workload.Start {
	start := r.pace.Decide(at, r.sign(r.key))
	r.extra = start.Burst
	if start.Changed {
		r.report("another rate", probe.Paced{Target: r.key.Target, Workload: r.key.Workload, Rate: r.pace.Rate(), Why: start.Why})
	}
	if start.Why != "" {
		r.log.Info("a burst begins", "why", start.Why, "rate", r.pace.Rate(), "at_most", r.pace.Burst)
	}
	return start
}

// next plans a conversation and pays for it, or says which budget is used up.
func (r *runner) next(due time.Time) (hold func() probe.Outcome, refusal string) {
	if r.pending == nil {
		c := r.source.Next()
		r.pending = &c
	}
	room, ok := r.memory.Claim(probe.Cost(r.job.Workload, r.pending.Opening))
	if !ok {
		return nil, probe.SkipMemory
	}
	t := &tap{runner: r, plan: *r.pending, extra: r.extra, room: room, estimate: r.source.Estimate(*r.pending)}
	if !r.budget.Allow(time.Now(), t.estimate, r.extra) {
		room.Release()
		return nil, probe.SkipBudget
	}
	r.pending = nil
	return func() probe.Outcome { return t.hold(due) }, ""
}

// report hands an event to the sink and notices if that takes too long.
func (r *runner) report(what string, e probe.Event) {
	defer r.watch.expect("the sink to take "+what, sinkPatience)()
	r.sink.Observe(e)
}
