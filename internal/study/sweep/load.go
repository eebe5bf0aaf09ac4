package sweep

import (
	"context"
	"fmt"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	// atOnce is how soon a failure is too soon: a slot that began the next
	// conversation right away would hammer a dead deployment.
	atOnce = time.Second
	// slotPause doubles up to slotPauseMax with each failure at once.
	slotPause, slotPauseMax = 100 * time.Millisecond, 5 * time.Second
)

// talker holds the conversations of one level.
type talker struct {
	prober *probe.Prober
	source *workload.Source
	model  string
	// label names the level in conversation IDs; salt is put in front of every
	// conversation's first message, "" for none.
	label, salt string
}

// load is a number of conversations under way: a closed or an open loop. Its
// goroutines end when the limit of conversations is used up or after halt;
// wait returns when the last of them has.
type load struct {
	*talker
	sink *collector
	// hard cuts turns in flight, soft (inside hard) ends what is between turns.
	hard, soft context.Context
	halt       context.CancelFunc
	work       sync.WaitGroup

	mu sync.Mutex
	// left conversations may be started; negative is without limit.
	left     int
	inFlight int
}

// newLoad returns a load that reports to sink; a limit of 0 is none.
func newLoad(hard context.Context, t *talker, sink *collector, limit int) *load {
	l := &load{talker: t, sink: sink, hard: hard, left: limit}
	if limit == 0 {
		l.left = -1
	}
	l.soft, l.halt = context.WithCancel(hard)
	return l
}

// wait returns when everything started is over.
func (l *load) wait() { l.work.Wait() }

// done is closed when everything started is over; the load owns the goroutine
// that watches.
func (l *load) done() <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		l.wait()
	}()
	return over
}

// closed keeps n conversations in flight, started through the gate.
func (l *load) closed(n int, g *gate) {
	for range n {
		l.work.Go(func() { l.slot(g) })
	}
}

// slot holds one conversation after the other.
func (l *load) slot(g *gate) {
	wait := time.Duration(0)
	for pause(l.soft, wait) {
		due, ok := g.wait(l.soft)
		if !ok || !l.take(0) {
			return
		}
		c := l.converse(l.source.Next(), due)
		wait = 0
		if c.Outcome != probe.Success && time.Since(due) < atOnce {
			wait = min(max(2*wait, slotPause), slotPauseMax)
		}
	}
}

// open starts conversations at the times of an arrival process, whatever
// became of earlier ones; at most max at once, 0 for no limit.
func (l *load) open(a workload.Arrival, seed uint64, max int) {
	starts := workload.NewSchedule(a, seed, 0)
	begin := time.Now()
	l.work.Go(func() {
		for !l.spent() {
			due := begin.Add(starts.Next())
			if !pause(l.soft, time.Until(due)) {
				return
			}
			if !l.take(max) {
				l.sink.conversationSkipped(due)
				continue
			}
			c := l.source.Next()
			l.work.Go(func() { l.converse(c, due) })
		}
	})
}

// spent reports whether the limit is used up.
func (l *load) spent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left == 0
}

// take reserves a start, unless the limit or max is reached.
func (l *load) take(max int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 || max > 0 && l.inFlight >= max {
		return false
	}
	l.left--
	l.inFlight++
	return true
}

// converse holds one conversation that was taken.
func (l *load) converse(c workload.Conversation, due time.Time) probe.Conversation {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.inFlight--
	}()
	l.sink.conversationStarted(time.Now())
	sum := l.hold(l.hard, l.soft.Done(), c, due, l.sink)
	l.sink.conversationEnded(sum)
	return sum
}

// hold is one conversation, whoever counts it.
func (t *talker) hold(ctx context.Context, stop <-chan struct{}, c workload.Conversation, due time.Time, sink probe.Sink) probe.Conversation {
	c = t.salted(c)
	plan := probe.Plan{
		Conversation: c, ID: fmt.Sprintf("%s/%d", t.label, c.ID),
		Scheduled: due, Model: t.model, Stop: stop,
	}
	return t.prober.Converse(ctx, plan, sink)
}

// salted makes a conversation new to every prefix cache from its first token.
func (t *talker) salted(c workload.Conversation) workload.Conversation {
	if t.salt == "" {
		return c
	}
	opening := append([]workload.Message(nil), c.Opening...)
	opening[0].Content = t.salt + saltEnd + opening[0].Content
	c.Opening = opening
	return c
}

// saltEnd stands between salt and text.
const saltEnd = "\n\n"

// mark is the number of characters that salted adds.
func (t *talker) mark() int {
	if t.salt == "" {
		return 0
	}
	return len(t.salt) + len(saltEnd)
}
