package sweep

import (
	"context"
	"sync"
	"time"

	"synthetic/internal/load"
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
	plan          Plan
	value         float64 // conversations in flight or starts per second
	seed          uint64
	conversations *conversations
	sink          *collector
	scraper       *scraper
	watcher       *watcher
	// phase tells what is being done, look what was seen so far.
	phase func(Phase)
	look  func(Stats)
}

// run measures the level and fills in the result. It returns when every turn
// that it started has ended; when ctx ends, those in flight are cut.
func (l *level) run(ctx context.Context, r *runfile.Result) {
	hard, cut := context.WithCancel(ctx)
	defer cut()
	l.prime(hard)
	l.warmUp(hard)
	own := l.loop(l.plan.Measure.Conversations)
	var t traffic
	if d := l.plan.WarmUp.Duration; d > 0 {
		l.phase(PhaseWarmUp)
		t = l.start(hard, own)
		load.Pause(hard, d)
		l.begin()
	} else {
		l.begin()
		t = l.start(hard, own)
	}
	end := l.measure(ctx, t.over)
	l.sink.finish(time.Now())
	t.halt()
	if end.state == runfile.Complete {
		l.phase(PhaseDrain)
		l.drain(t)
	}
	cut()
	<-t.over
	l.fill(r, end)
}

// prime holds conversations that nobody measures, so that the cache knows the
// texts.
func (l *level) prime(ctx context.Context) {
	n := l.plan.Cache.Conversations
	if l.plan.Cache.Policy != Prime || n < 1 {
		return
	}
	l.phase(PhasePrime)
	<-l.start(ctx, &load.Loop{Arrival: closed(min(n, primeAtOnce)), Limit: n}).over
}

// warmUp holds a number of conversations at a rate of their own, and rests.
func (l *level) warmUp(ctx context.Context) {
	w := l.plan.WarmUp
	if w.Conversations < 1 {
		return
	}
	l.phase(PhaseWarmUp)
	<-l.start(ctx, &load.Loop{Arrival: l.arrivals(w.Rate), Seed: l.seed + 1, Limit: w.Conversations}).over
	load.Pause(ctx, w.Cooldown)
}

// warmUpVariant holds the load of the lowest level, for the time of a warm-up,
// with a variant that was just switched to. Its prefix cache may be empty, and
// the first level of a grid, which is low, would fill it in passing, where that
// of a search would have a queue of prefills that outlasts its warm-up: the
// same level would not be measured alike.
func (s *sweep) warmUpVariant(ctx context.Context, variant int) error {
	w := s.Plan.WarmUp.Duration
	if s.Plan.Cache.Policy != Keep || w <= 0 {
		return nil
	}
	// No repetition has the number 0: what is said here is said in no level.
	l, done, err := s.level(Cell{Variant: variant}, curve)
	if err != nil {
		return err
	}
	defer done()
	s.phase(PhaseWarmUp)
	hard, cut := context.WithCancel(ctx)
	defer cut()
	t := l.start(hard, l.loop(0))
	load.Pause(hard, w)
	cut()
	<-t.over
	return nil
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
func (l *level) measure(ctx context.Context, over <-chan struct{}) *ending {
	scraping, stop := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { l.scraper.follow(scraping, l.plan.Measure.Snapshot) })
	defer func() {
		stop()
		helpers.Wait()
		l.scraper.scrape(ctx)
	}()
	timed, counted := l.ends(over)
	// Between the edges of blocks, so that an early end leaves no sliver.
	load.Pause(ctx, lookEvery/2)
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
func (l *level) ends(over <-chan struct{}) (timed <-chan time.Time, counted <-chan struct{}) {
	if l.plan.Measure.Conversations > 0 {
		return nil, over
	}
	return time.After(time.Until(l.watcher.began.Add(l.plan.Measure.Duration()))), nil
}

// drain lets the turns in flight come to their own ends, hangs at their
// deadlines.
func (l *level) drain(t traffic) {
	limit := drainDefault
	if total := l.plan.Workload.Timeouts.Total; total > 0 {
		limit = total + drainGrace
	}
	select {
	case <-t.over:
	case <-time.After(limit):
	case <-t.hard.Done():
	}
}

// fill writes what was measured into the result.
func (l *level) fill(r *runfile.Result, end *ending) {
	r.State, r.Why = end.state, end.why
	r.Snapshots, r.Tail = l.sink.snapshots()
	l.scraper.attach(r.Snapshots)
	r.Verdict = end.verdict
	if r.Verdict == nil && end.state == runfile.Complete && len(l.plan.SLOs) > 0 {
		r.Verdict = l.watcher.measured(l.sink.ballot())
	}
}
