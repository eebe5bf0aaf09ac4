package sweep

import (
	"context"
	"sync"
	"time"

	"synthetic/internal/study/runfile"
)

const (
	// lookEvery is how often a measurement is looked at.
	lookEvery = time.Second
	// drainGrace is how long past its total timeout a turn may take to end,
	// drainDefault bounds turns without such a timeout.
	drainGrace, drainDefault = 5 * time.Second, 2 * time.Minute
	// primeAtOnce conversations prime the cache at the same time, at most.
	primeAtOnce = 4
)

// level is one cell while it is measured.
type level struct {
	plan    Plan
	value   float64 // conversations in flight or starts per second
	seed    uint64
	talk    *talker
	sink    *collector
	scraper *scraper
	watcher *watcher
	// phase tells what is being done, look what was seen so far.
	phase func(Phase)
	look  func(Stats)
}

// run measures the level and fills in the result. It returns when every turn
// that it started has ended; when ctx ends, those in flight are cut.
func (l *level) run(ctx context.Context, r *runfile.Result) *ending {
	hard, cut := context.WithCancel(ctx)
	defer cut()
	l.prime(hard)
	l.warmUp(hard)
	load := newLoad(hard, l.talk, l.sink, l.plan.Measure.Conversations)
	if d := l.plan.WarmUp.Duration; d > 0 {
		l.phase(PhaseWarmUp)
		l.start(load)
		pause(hard, d)
		l.begin()
	} else {
		l.begin()
		l.start(load)
	}
	end := l.measure(ctx, load)
	l.sink.finish(time.Now())
	load.halt()
	if end.state == runfile.Complete {
		l.phase(PhaseDrain)
		l.drain(load)
	}
	cut()
	load.wait()
	l.fill(r, end)
	return end
}

// start sets the level's load going.
func (l *level) start(load *load) {
	if l.plan.Kind == runfile.Concurrency {
		load.closed(int(l.value), newGate(l.plan.StartRate))
		return
	}
	arrival := l.plan.Arrival
	arrival.Rate = l.value
	load.open(arrival, l.seed, l.plan.MaxConcurrency)
}

// prime holds conversations that nobody measures, so that the cache knows the
// texts.
func (l *level) prime(ctx context.Context) {
	n := l.plan.Cache.Conversations
	if l.plan.Cache.Policy != Prime || n < 1 {
		return
	}
	l.phase(PhasePrime)
	load := newLoad(ctx, l.talk, l.sink, n)
	load.closed(min(n, primeAtOnce), newGate(0))
	load.wait()
}

// warmUp holds a number of conversations at a rate of their own, and rests.
func (l *level) warmUp(ctx context.Context) {
	w := l.plan.WarmUp
	if w.Conversations < 1 {
		return
	}
	l.phase(PhaseWarmUp)
	load := newLoad(ctx, l.talk, l.sink, w.Conversations)
	arrival := l.plan.Arrival
	arrival.Rate = w.Rate
	load.open(arrival, l.seed+1, 0)
	load.wait()
	pause(ctx, w.Cooldown)
}

// begin starts the snapshots.
func (l *level) begin() {
	l.phase(PhaseMeasure)
	l.watcher.began = time.Now()
	m := l.plan.Measure
	if m.Conversations > 0 {
		l.sink.beginCounted(l.watcher.began, m.Snapshots, m.Conversations, l.scraper.edge)
		return
	}
	l.sink.beginTimed(l.watcher.began, m.Snapshots, m.Snapshot)
}

// measure waits until the measurement ends, and says why it did.
func (l *level) measure(ctx context.Context, load *load) *ending {
	scraping, stop := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { l.scraper.follow(scraping, l.plan.Measure.Snapshot) })
	defer func() {
		stop()
		helpers.Wait()
		l.scraper.scrape(ctx)
	}()
	timed, counted := l.ends(load)
	// Between the edges of blocks, so that an early end leaves no sliver.
	pause(ctx, lookEvery/2)
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return &ending{state: runfile.Interrupted, why: "the sweep was stopped"}
		case <-timed:
			return &ending{state: runfile.Complete}
		case <-counted:
			return &ending{state: runfile.Complete}
		case now := <-looks.C:
			l.look(l.sink.read())
			if end := l.watcher.look(now, l.sink); end != nil {
				return end
			}
		}
	}
}

// ends returns the channel that tells the end of a measurement: by time, or by
// the end of all conversations. The other one is nil.
func (l *level) ends(load *load) (timed <-chan time.Time, counted <-chan struct{}) {
	if l.plan.Measure.Conversations > 0 {
		return nil, load.done()
	}
	return time.After(time.Until(l.watcher.began.Add(l.plan.Measure.Duration()))), nil
}

// drain lets the turns in flight come to their own ends, hangs at their
// deadlines.
func (l *level) drain(load *load) {
	limit := drainDefault
	if total := l.plan.Workload.Timeouts.Total; total > 0 {
		limit = total + drainGrace
	}
	bound := time.NewTimer(limit)
	defer bound.Stop()
	select {
	case <-load.done():
	case <-bound.C:
	case <-load.hard.Done():
	}
}

// fill writes what was measured into the result.
func (l *level) fill(r *runfile.Result, end *ending) {
	r.State, r.Why = end.state, end.why
	r.Snapshots, r.Tail = l.sink.snapshots()
	l.scraper.attach(r.Snapshots)
	r.Verdict = end.verdict
	if r.Verdict == nil && end.state == runfile.Complete && len(l.plan.SLOs) > 0 {
		r.Verdict = l.watcher.measured(l.sink.judgedTurns())
	}
}
