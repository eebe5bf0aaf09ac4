package load

import (
	"context"
	"math"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	// rampStep and rampMax spread the first starts of a closed loop: its slots
	// open rampStep apart, the last within rampMax.
	rampStep, rampMax = 100 * time.Millisecond, 10 * time.Second
	// atOnce is how soon a failure is too soon: a closed loop that started the
	// next conversation right away would hammer a dead deployment.
	atOnce = time.Second
	// slotPause and slotPauseMax bound the pause of a slot after a failure at
	// once or a refused start. Among replicas it doubles each time and starts
	// over with the first conversation that goes well; alone it stays.
	slotPause, slotPauseMax = 100 * time.Millisecond, 5 * time.Second
	// beatEvery is how often a loop gives a sign of life, also an idle one.
	beatEvery = time.Second
)

// limitReached is why nothing starts after Loop.Limit; it is no skip.
const limitReached = "limit"

// Loop starts conversations: open, at the times of an arrival process, whatever
// became of the earlier ones, or closed, one after the other in each of
// Concurrency slots. It runs once.
type Loop struct {
	workload.Arrival
	// MaxConcurrency caps the conversations in flight: a start over it is
	// skipped. Limit is how many are started in all, MaxLate is how overdue a
	// start may be. StartRate is how many slots of a closed loop open per second;
	// a slot that is open starts one conversation after the other. 0 is no bound.
	MaxConcurrency, Limit int
	StartRate             float64
	MaxLate               time.Duration
	// Seed draws the intervals of an open loop.
	Seed uint64
	// Replica spreads processes that send the same: their first starts, the
	// ramp of their slots and their growing pauses differ. 0 is a process
	// alone, which starts at once and repeats the shortest pause.
	Replica uint64
	// Part is which part of the load this loop carries: all numbers above are of the
	// whole load. Pass is called in place of Next for each conversation of another
	// part, in their order, and for one of this part whose start is refused.
	Shard    Shard
	SkipNext func()
	// Begin is what the times of starts count from; the zero value is when Run is
	// called. End, if set, ends an open loop: what is due before it is started, also by a
	// process that comes to it after the end, unless it is overdue by more than maxLate by
	// then, and nothing else, so that the times of an arrival process alone say what a
	// load is.
	Begin, End time.Time
	// Times, if set, gives the starts of an open loop in place of its process, as
	// offsets from the begin that never decrease.
	Times func() time.Duration
	// Bend, if set, moves them to where another course of the rate has them.
	Warp func(time.Duration) time.Duration
	// Due, if set, says which starts of an open loop's process there are. An extra
	// one takes no more than half of the slots, and is no skip when it is refused:
	// calm starts are to be what they are without it.
	Decide func(at time.Time) workload.Start
	// Next returns what holds the next conversation, or why none may start
	// now. It is called by one goroutine at a time and must not block.
	Next func(due time.Time) (hold func() probe.Outcome, refusal string)
	// Skipped is told of every start that was due and refused.
	OnSkip func(due time.Time, reason string)
	// Alive, unless nil, is called every beatEvery while the loop starts things.
	OnBeat func()

	// conversations are the goroutines of slots and of conversations.
	conversations sync.WaitGroup

	mu sync.Mutex
	// started counts the conversations of all parts.
	started, inFlight int
}

// Run starts conversations until ctx or the load ends or Limit is reached, and returns
// when the last of them is over.
func (l *Loop) Run(ctx context.Context) {
	if l.OnBeat == nil {
		l.OnBeat = func() {}
	}
	if l.Process == workload.Closed {
		l.closed(ctx)
	} else {
		l.open(ctx)
	}
	l.conversations.Wait()
}

func (l *Loop) open(ctx context.Context) {
	begin, phase := l.begin(), time.Duration(0)
	if l.Replica != 0 {
		phase = workload.Phase(begin, l.Rate, l.Replica)
	}
	next := l.Times
	if next == nil {
		next = workload.NewSchedule(l.Arrival, l.Seed, phase).Next
	}
	bend := l.Warp
	if bend == nil {
		bend = func(even time.Duration) time.Duration { return even }
	}
	for l.Limit == 0 || l.started < l.Limit { // nobody else starts anything
		due := begin.Add(bend(next()))
		if !l.mine(l.started) {
			l.pass()
			continue
		}
		if !l.comes(ctx, due) {
			return
		}
		start := workload.Start{Due: true}
		if l.Decide != nil {
			start = l.Decide(due)
		}
		if !start.Due {
			continue
		}
		most := l.MaxConcurrency
		if start.Burst {
			most /= 2
		}
		hold, refusal := l.admit(due, l.Shard.Slots(most))
		switch {
		case hold != nil:
			l.conversations.Go(func() { l.converse(hold) })
		case !start.Burst:
			l.OnSkip(due, refusal)
			l.pass()
		}
	}
}

// comes waits for a start of an open loop, and says whether there is one: not from the
// loop's end on, and not once ctx has ended.
func (l *Loop) comes(ctx context.Context, due time.Time) bool {
	if !l.End.IsZero() && !due.Before(l.End) {
		await(ctx, time.After(time.Until(l.End)), l.OnBeat)
		return false
	}
	return await(ctx, time.After(time.Until(due)), l.OnBeat)
}

// late says whether a start is too overdue to stand for its time: what has piled up
// while the process stood still is not fired in one burst after the end.
func (l *Loop) late(due time.Time) bool {
	now := time.Now()
	most := l.MaxLate
	if !l.End.IsZero() && !now.Before(l.End) {
		most = maxLate
	}
	return most > 0 && now.Sub(due) > most
}

func (l *Loop) begin() time.Time {
	if l.Begin.IsZero() {
		return time.Now()
	}
	return l.Begin
}

// pass leaves the conversation whose turn it is to another part, or to nobody. A
// loop that carries all of its load has no part to keep in step with.
func (l *Loop) pass() {
	if l.Shard.Whole() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started++
	l.SkipNext()
}

// passOthers leaves the conversations before the next of this part to the others.
// The caller holds mu.
func (l *Loop) passOthers() {
	for !l.mine(l.started) && (l.Limit == 0 || l.started < l.Limit) {
		l.started++
		l.SkipNext()
	}
}

func (l *Loop) closed(ctx context.Context) {
	begin := l.begin()
	for i := range l.Concurrency {
		if l.Shard.ownsSlot(i) {
			l.conversations.Go(func() { l.slot(ctx, i, begin) })
		}
	}
	if l.Shard.Slots(l.Concurrency) == 0 {
		l.conversations.Go(func() { l.idle(ctx) })
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		l.conversations.Wait()
	}()
	await(ctx, over, l.OnBeat)
}

// opens is how long after its begin a closed loop opens slot i.
func (l *Loop) opens(i int) time.Duration {
	if l.StartRate > 0 {
		return time.Duration(float64(i) / l.StartRate * float64(time.Second))
	}
	if l.Replica == 0 {
		return 0
	}
	n := float64(l.Concurrency)
	ramp := min(time.Duration(l.Concurrency)*rampStep, rampMax)
	fraction := float64(l.Replica) / math.MaxUint64 // replicas do not ramp in step
	return time.Duration((float64(i) + fraction) / n * float64(ramp))
}

// idle is a part without a slot: it has nothing to do until the end, or none at all
// where the loop ends by a number.
func (l *Loop) idle(ctx context.Context) {
	if l.Limit == 0 {
		<-ctx.Done()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passOthers()
}

func (l *Loop) slot(ctx context.Context, i int, begin time.Time) {
	retry := newBackoff(l.Replica+uint64(i), slotPause, slotPauseMax)
	for delay := time.Until(begin.Add(l.opens(i))); Pause(ctx, delay); {
		due := time.Now()
		hold, refusal := l.admit(due, l.MaxConcurrency)
		switch {
		case refusal == limitReached:
			return
		case hold == nil:
			l.OnSkip(due, refusal)
		case settled(l.converse(hold)) || time.Since(due) >= atOnce:
			retry.wait = 0
			delay = 0
			continue
		}
		if delay = slotPause; l.Replica != 0 {
			delay = retry.next()
		}
	}
}

// settled reports an end that no deployment caused: the next start follows at once.
func settled(o probe.Outcome) bool { return o == probe.Success || o == probe.UserCanceled }

// admit returns what holds the conversation that is due, and counts that as in
// flight until converse, or says why it may not start as one of at most so many.
func (l *Loop) admit(due time.Time, most int) (hold func() probe.Outcome, refusal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Process == workload.Closed {
		l.passOthers()
	}
	switch {
	case l.Limit > 0 && l.started >= l.Limit:
		return nil, limitReached
	case l.late(due):
		return nil, probe.SkipLate
	case l.MaxConcurrency > 0 && l.inFlight >= most:
		return nil, probe.SkipMaxConcurrency
	}
	if hold, refusal = l.Next(due); hold != nil {
		l.started++
		l.inFlight++
	}
	return hold, refusal
}

func (l *Loop) converse(hold func() probe.Outcome) probe.Outcome {
	outcome := hold()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	return outcome
}
