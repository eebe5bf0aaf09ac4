package load

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// maxLate is how overdue a start may be. After a hiccup (a paused machine, no
// CPU for a while) the missed starts are counted as skipped instead of fired
// in one burst, which would measure our own stampede. At a rate of r/s a
// shorter hiccup makes at most r starts at once.
const maxLate = time.Second

// runner runs one job: a loop that starts conversations, and the conversations.
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

	// hard ends when turns in flight are to be cut, soft (inside hard) when
	// nothing more is to be started; halt ends soft.
	hard, soft context.Context
	halt       context.CancelFunc

	// helpers are the goroutines of conversations and of model discovery,
	// owned by run.
	helpers sync.WaitGroup
	model   *model
	watch   watch
	beaten  atomic.Pointer[time.Time]

	mu       sync.Mutex
	inFlight int
	// pending was planned and refused for the budget. It is the next to start:
	// passing over dear conversations would leave only the cheap ones.
	pending *workload.Conversation
}

func newRunner(s *Scheduler, j probe.Job, id int, hash uint64, source *workload.Source, prober Prober) *runner {
	r := &runner{
		job: j, key: j.Key(), id: id, hash: hash,
		sink: s.opts.Sink,
		log:  s.opts.Logger.With("target", j.Target.Name, "workload", j.Workload.Name),

		prober: prober,
		source: source,
		budget: workload.NewBudget(j.Traffic.TokensPerMinute),
		hard:   s.hard,
	}
	r.soft, r.halt = context.WithCancel(s.hard)
	r.model = newModel(j.Target, prober, r.log, func(name string) {
		r.report("the name of the model", probe.ModelFound{Target: r.key.Target, Workload: r.key.Workload, Model: name})
	})
	r.beat()
	return r
}

// run starts conversations until the runner is halted, and returns when the
// last of them is over.
func (r *runner) run() {
	defer r.prober.Close()
	defer r.helpers.Wait()
	r.helpers.Go(func() { r.model.run(r.soft) })
	// The first question for the model comes before the first conversation:
	// a request without a model would blame the deployment for our haste.
	if !r.await(r.model.asked) {
		return
	}
	if r.job.Traffic.Process == workload.Closed {
		r.closedLoop()
	} else {
		r.openLoop()
	}
}

// admit decides whether a conversation that is due may start now. If it may,
// it is in flight until leave; if not, the skip is reported.
func (r *runner) admit(due time.Time) (c workload.Conversation, estimate int, ok bool) {
	c, estimate, reason := r.decide(due)
	if reason == "" {
		return c, estimate, true
	}
	r.report("a skipped conversation", probe.Skip{Target: r.key.Target, Workload: r.key.Workload, Reason: reason})
	return c, 0, false
}

// decide returns the reason for which a start is refused, or "".
func (r *runner) decide(due time.Time) (c workload.Conversation, estimate int, reason string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch limit := r.job.Traffic.MaxConcurrency; {
	case now.Sub(due) > maxLate:
		return c, 0, SkipLate
	case limit > 0 && r.inFlight >= limit:
		return c, 0, SkipMaxConcurrency
	}
	if r.pending == nil {
		next := r.source.Next()
		r.pending = &next
	}
	c = *r.pending
	estimate = r.source.Estimate(c)
	if !r.budget.Allow(now, estimate) {
		return c, 0, SkipBudget
	}
	r.pending = nil
	r.inFlight++
	return c, estimate, ""
}

// leave ends what admit began.
func (r *runner) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight--
}

// converse holds one admitted conversation.
func (r *runner) converse(c workload.Conversation, estimate int, due time.Time) probe.Conversation {
	defer r.leave()
	r.report("a conversation's start", probe.ConversationStart{Target: r.key.Target, Workload: r.key.Workload})
	t := &tap{runner: r, plan: c}
	over := r.prober.Converse(r.hard, probe.Plan{
		Conversation: c,
		ID:           fmt.Sprintf("%s/%d.%d", r.key, r.id, c.ID),
		Scheduled:    due,
		Model:        r.model.name(),
		Stop:         r.soft.Done(),
	}, t)
	t.close()
	r.budget.Settle(estimate, t.cost)
	r.report("a conversation's end", over)
	return over
}
