package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

type conversations struct {
	prober *probe.Prober
	source *workload.Source
	model  string
	// label names the level in conversation IDs; salt precedes every conversation's first message, or its
	// first user message if all conversations share the system message; "" for none.
	label, salt  string
	sharesSystem bool
}

func (v *conversations) hold(ctx context.Context, stop <-chan struct{}, c *workload.Conversation, due time.Time, sink probe.Sink) probe.Conversation {
	if v.salt != "" {
		c.Opening = slices.Clone(c.Opening)
		salted := &c.Opening[0]
		if v.sharesSystem {
			salted = &c.Opening[len(c.Opening)-1]
		}
		salted.Content = v.salt + salted.Content
	}
	return v.prober.Converse(ctx, probe.Plan{
		Conversation: *c, ID: fmt.Sprintf("%s/%d", v.label, c.ID),
		Scheduled: due, Model: v.model, Stop: stop,
	}, sink)
}

// start starts the level's conversations. over is closed after the last one: at the loop's limit or end, or after halt,
// which lets an open loop end at its times. The end of hard also cuts turns in flight.
func (l *level) start(hard context.Context, loop *load.Loop) (over <-chan struct{}, halt func()) {
	soft, halt := context.WithCancel(hard)
	open := loop.Process != workload.Closed // in an open loop nothing waits, and a late start is skipped
	if l.sweep.Shard.Count > 0 && open {
		n := uint64(0)
		loop.Decide = func(time.Time) workload.Start { n++; return workload.Start{Due: l.owns(n - 1)} }
	}
	loop.Next = func(due time.Time) (hold func() probe.Outcome, refusal string) {
		if open {
			l.sink.conversationDue(due, false)
		}
		c := l.next()
		return func() probe.Outcome {
			l.sink.conversationStarted(time.Now())
			sum := l.conversations.hold(hard, soft.Done(), &c, due, l.sink)
			l.sink.conversationEnded()
			return sum.Outcome
		}, ""
	}
	loop.OnSkip = func(due time.Time, why string) { l.sink.conversationDue(due, why != probe.SkipLate) }
	until := soft
	if open && !loop.End.IsZero() {
		until = hard
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer halt()
		loop.Run(until)
	}()
	return done, halt
}

// loop returns this process's share of the level's own load; a limit of 0 means no limit.
func (l *level) loop(limit int) *load.Loop {
	shard := l.sweep.Shard
	if !l.plan.OpenLoop {
		return &load.Loop{Arrival: closedLoop(shard.Slots(int(l.value))), StartRate: l.plan.StartRate / float64(max(shard.Count, 1)), Limit: limit}
	}
	return &load.Loop{
		Arrival: l.arrivals(l.value), Seed: l.seed, MaxConcurrency: shard.Slots(l.plan.MaxConcurrency), Limit: limit,
	}
}

func (l *level) arrivals(perSecond float64) workload.Arrival {
	a := l.plan.Arrival
	a.Rate = perSecond
	return a
}

func closedLoop(concurrency int) workload.Arrival {
	return workload.Arrival{Process: workload.Closed, Concurrency: concurrency}
}
