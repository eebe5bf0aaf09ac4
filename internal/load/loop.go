package load

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	// The slots of a closed loop open rampStep apart, and all within rampMax.
	rampStep, rampMax = 100 * time.Millisecond, 10 * time.Second
	// A failure within quickFailure makes a slot pause. A closed loop that restarts at once would
	// flood a deployment that is down.
	quickFailure = time.Second
	// slotPause is the pause of a slot after a quick failure or a skipped start. With Replica
	// set, the pause doubles each time up to slotPauseMax; a conversation that succeeds resets
	// it.
	slotPause, slotPauseMax = 100 * time.Millisecond, 5 * time.Second
	// beatEvery is the heartbeat interval of a loop, also while it is idle.
	beatEvery = time.Second
)

// limitReached is admit's reason after Loop.Limit. It does not count as a skip.
const limitReached = "limit"

// Loop starts conversations. An open loop starts them at the times of an arrival process,
// whether or not earlier ones have ended. A closed loop has Concurrency slots, and each slot
// runs one conversation after the other. A Loop can be run once.
type Loop struct {
	workload.Arrival
	// Seed determines the random intervals of an open loop.
	Seed uint64
	// Limit is the total number of conversations; 0 means no limit.
	Limit int
	// MaxConcurrency is the maximum number of conversations in flight; 0 means no maximum. A
	// start above it is skipped.
	MaxConcurrency int
	// MaxLate is how late a start may be; 0 means any time. A later one is skipped.
	MaxLate time.Duration
	// StartRate is how many slots of a closed loop open per second. 0 means all at once, or within
	// rampMax if Replica is set.
	StartRate float64

	// Begin is the origin of all start times; zero means the time Run is called.
	Begin time.Time
	// End, if set, ends an open loop: starts due at or after it do not take place. A start due
	// before End still takes place after it, unless it is more than maxLate late.
	End time.Time

	// Replica spreads processes with the same configuration over time: their first starts, slot
	// ramps and growing pauses differ. A process alone has Replica 0; it starts at once and its
	// pauses do not grow.
	Replica uint64

	// Decide, if set, decides which starts of an open loop take place. Starts of a burst use at
	// most half of MaxConcurrency, and a skipped one is not reported, so that a burst does not
	// change the base traffic.
	Decide func(at time.Time) workload.Start
	// Next returns a function that runs the next conversation, or the reason to skip it. It is
	// called by one goroutine at a time and must not block.
	Next func(due time.Time) (run func() probe.Outcome, skipReason string)
	// OnSkip is called for each start that was due and skipped.
	OnSkip func(due time.Time, reason string)
	// OnBeat, if set, is called every beatEvery while the loop starts conversations.
	OnBeat func()

	state loopState
}

// loopState is what a Loop has begun.
type loopState struct {
	// running waits for the goroutines of slots and conversations.
	running sync.WaitGroup

	mu                sync.Mutex
	started, inFlight int
}

// Run starts conversations until ctx is done, the load ends or Limit is reached. It returns
// when the last conversation has ended.
func (l *Loop) Run(ctx context.Context) {
	if l.OnBeat == nil {
		l.OnBeat = func() {}
	}
	if l.Process == workload.Closed {
		l.closed(ctx)
	} else {
		l.open(ctx)
	}
	l.state.running.Wait()
}

// open starts each conversation when it is due, in a goroutine of its own.
func (l *Loop) open(ctx context.Context) {
	next := l.startTimes()
	for l.Limit == 0 || l.state.started < l.Limit { // no other goroutine writes started
		due := next()
		if !l.waitForStart(ctx, due) {
			return
		}
		start := workload.Start{Due: true}
		if l.Decide != nil {
			start = l.Decide(due)
		}
		if !start.Due {
			continue
		}
		maxInFlight := l.MaxConcurrency
		if start.Burst {
			maxInFlight /= 2
		}
		run, skipReason := l.admit(due, maxInFlight)
		switch {
		case run != nil:
			l.state.running.Go(func() { l.runConversation(run) })
		case !start.Burst:
			l.OnSkip(due, skipReason)
		}
	}
}

// startTimes returns a function that returns the time of each start of an open loop.
func (l *Loop) startTimes() func() time.Time {
	begin := cmp.Or(l.Begin, time.Now())
	phase := time.Duration(0)
	if l.Replica != 0 {
		phase = workload.Phase(begin, l.Rate, l.Replica)
	}
	next := workload.NewSchedule(l.Arrival, l.Seed, phase).Next
	return func() time.Time { return begin.Add(next()) }
}

// waitForStart waits until due. It returns false if the loop or ctx ends first.
func (l *Loop) waitForStart(ctx context.Context, due time.Time) bool {
	if !l.End.IsZero() && !due.Before(l.End) {
		await(ctx, time.After(time.Until(l.End)), l.OnBeat)
		return false
	}
	return await(ctx, time.After(time.Until(due)), l.OnBeat)
}

// closed starts the slots and waits for them.
func (l *Loop) closed(ctx context.Context) {
	begin := cmp.Or(l.Begin, time.Now())
	for i := range l.Concurrency {
		l.state.running.Go(func() { l.slot(ctx, i, begin.Add(l.slotDelay(i))) })
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.state.running.Wait()
	}()
	await(ctx, done, l.OnBeat)
}

// slotDelay returns when slot i opens, relative to the begin.
func (l *Loop) slotDelay(i int) time.Duration {
	if l.StartRate > 0 {
		return time.Duration(float64(i) / l.StartRate * float64(time.Second))
	}
	if l.Replica == 0 {
		return 0
	}
	n := float64(l.Concurrency)
	ramp := min(time.Duration(l.Concurrency)*rampStep, rampMax)
	fraction := float64(l.Replica) / math.MaxUint64 // replicas ramp at different times
	return time.Duration((float64(i) + fraction) / n * float64(ramp))
}

// slot runs one conversation after the other in slot i, which opens at a time.
func (l *Loop) slot(ctx context.Context, i int, opens time.Time) {
	retry := newBackoff(l.Replica+uint64(i), slotPause, slotPauseMax)
	for delay := time.Until(opens); Pause(ctx, delay); {
		due := time.Now()
		run, skipReason := l.admit(due, l.MaxConcurrency)
		switch {
		case skipReason == limitReached:
			return
		case run == nil:
			l.OnSkip(due, skipReason)
		case canRestartAtOnce(l.runConversation(run)) || time.Since(due) >= quickFailure:
			retry.wait = 0
			delay = 0
			continue
		}
		if delay = slotPause; l.Replica != 0 {
			delay = retry.next()
		}
	}
}

// canRestartAtOnce is true for outcomes that are not the deployment's fault.
func canRestartAtOnce(o probe.Outcome) bool { return o == probe.Success || o == probe.UserCanceled }

// admit returns a function that runs the next conversation, or the reason to skip it. The
// conversation counts as in flight until runConversation has returned.
func (l *Loop) admit(due time.Time, maxInFlight int) (run func() probe.Outcome, skipReason string) {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	switch {
	case l.Limit > 0 && l.state.started >= l.Limit:
		return nil, limitReached
	case l.tooLate(due):
		return nil, probe.SkipLate
	case l.MaxConcurrency > 0 && l.state.inFlight >= maxInFlight:
		return nil, probe.SkipMaxConcurrency
	}
	if run, skipReason = l.Next(due); run != nil {
		l.state.started++
		l.state.inFlight++
	}
	return run, skipReason
}

// tooLate reports whether a start is too late to represent its time. Without this check, a
// process that was stopped for a while would start all missed conversations at once.
func (l *Loop) tooLate(due time.Time) bool {
	now := time.Now()
	limit := l.MaxLate
	if !l.End.IsZero() && !now.Before(l.End) {
		limit = maxLate
	}
	return limit > 0 && now.Sub(due) > limit
}

// runConversation runs a conversation that admit has counted as in flight.
func (l *Loop) runConversation(run func() probe.Outcome) probe.Outcome {
	outcome := run()
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	l.state.inFlight--
	return outcome
}
