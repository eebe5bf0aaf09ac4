package sweep

import (
	"context"
	"sync"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/load"
	"synthetic/internal/study/runs"
)

const (
	// lookEvery is the time between two looks at a measurement.
	lookEvery = time.Second
	// drainGrace is how long after its total timeout a turn may still end; drainDefault bounds turns without a timeout.
	drainGrace, drainDefault = 5 * time.Second, 2 * time.Minute
	// primeAtOnce bounds the concurrent conversations that prime the cache.
	primeAtOnce = 4
)

type level struct {
	sweep         *sweep
	plan          fleet.Plan
	value         float64 // conversations in flight or starts per second
	seed          uint64
	conversations *conversations
	sink          *collector
	scraper       *scraper
	began         time.Time // the begin of the measurement
	taken         uint64    // the number of conversations, also those of other shards
}

// run measures the level and fills in the result. It returns after every turn has ended; when
// ctx ends, it cuts the turns in flight.
func (l *level) run(ctx context.Context, r *runs.Result) *ending {
	hard, cut := context.WithCancel(ctx)
	defer cut()
	l.prepareCache(hard)
	begin := time.Now()
	shard := l.sweep.Shard
	if shard.Count > 0 {
		begin = l.sweep.slotBegin
	}
	warmUp := l.plan.WarmUp.Duration
	if warmUp > 0 {
		l.sweep.phase(phaseWarmUp)
	} else {
		l.begin(begin)
	}
	loop := l.loop(l.plan.Measure.Conversations)
	loop.Begin = begin
	if rate := l.plan.StartRate; !l.plan.OpenLoop && rate > 0 { // shards take turns in filling a level
		loop.Begin = begin.Add(inSeconds(float64(shard.Index) / rate))
	}
	if d := l.plan.Measure.Duration(); d > 0 {
		loop.End = begin.Add(warmUp + d)
	}
	over, halt := l.start(hard, loop)
	if warmUp > 0 {
		l.waitForWarmUp(hard, begin.Add(warmUp))
		l.begin(begin.Add(warmUp))
	}
	end := l.measure(ctx, over)
	l.sink.finish(time.Now())
	halt()
	if end.state == runs.Complete {
		l.sweep.phase(phaseDrain)
		l.drain(hard, over)
	}
	cut()
	<-over
	r.State, r.Why = end.state, end.why
	r.Snapshots, r.Tail = l.sink.snapshots()
	l.scraper.attach(r.Snapshots)
	r.Verdict = l.verdict(end, *r)
	return end
}

// verdict returns the verdict on a level; nil without objectives, and if the sweep was stopped.
func (l *level) verdict(end *ending, r runs.Result) *runs.LevelVerdict {
	switch judge := runs.NewJudge(l.sweep.run); {
	case len(l.plan.SLOs) == 0 || end.state == runs.Interrupted:
		return nil
	case end.ours:
		return runs.NotJudgedBecause("the prober could not send")
	case end.targetLost:
		return judge.Abandoned(r)
	default:
		return judge.Conclude(l.sweep.run, r)
	}
}

func (l *level) waitForWarmUp(ctx context.Context, end time.Time) {
	for left := time.Until(end); left > 0 && load.Pause(ctx, min(left, lookEvery)); left = time.Until(end) {
		l.sink.records.flush()
	}
}

// prepareCache runs what the plan wants before the level's load, without measuring it: conversations that prime the
// cache, and a warm-up of a number of conversations at its own rate, with a rest.
func (l *level) prepareCache(ctx context.Context) {
	if n := l.plan.Cache.Conversations; l.plan.Cache.Policy == fleet.Prime && n > 0 {
		l.sweep.phase(phasePrime)
		over, _ := l.start(ctx, &load.Loop{Arrival: closedLoop(min(n, primeAtOnce)), Limit: n})
		<-over
	}
	if w := l.plan.WarmUp; w.Conversations > 0 {
		l.sweep.phase(phaseWarmUp)
		over, _ := l.start(ctx, &load.Loop{Arrival: l.arrivals(w.Rate), Seed: l.seed + 1, Limit: w.Conversations})
		<-over
		load.Pause(ctx, w.Cooldown)
	}
}

// warmUpVariant runs the load of the lowest level for the time of a warm-up, after a switch to the variant. Its prefix
// cache may be empty. The low first level of a grid would fill the cache in passing, but the first level of a search
// would build a queue of prefills that outlasts its warm-up, so the same level would measure differently.
func (s *sweep) warmUpVariant(ctx context.Context, variant int) error {
	w := s.Plan.WarmUp.Duration
	if s.Plan.Cache.Policy != fleet.KeepCache || w <= 0 {
		return nil
	}
	// No repetition has the number 0, so these texts occur in no level.
	l, done, err := s.level(cell{Variant: variant})
	if err != nil {
		return err
	}
	defer done()
	s.phase(phaseWarmUp)
	hard, cut := context.WithTimeout(ctx, w)
	defer cut()
	over, _ := l.start(hard, l.loop(0))
	<-over
	return nil
}

func (l *level) begin(at time.Time) {
	l.sweep.phase(PhaseMeasure)
	l.began = at
	m := l.plan.Measure
	if m.Conversations > 0 {
		l.sink.begin(at, 1, never)
		return
	}
	l.sink.begin(at, m.Snapshots, m.Snapshot)
}

// measure waits until the measurement ends, and returns why it did.
func (l *level) measure(ctx context.Context, over <-chan struct{}) *ending {
	scraping, stop := context.WithCancel(ctx)
	var scrapes sync.WaitGroup
	scrapes.Go(func() { l.scraper.follow(scraping, l.plan.Measure.Snapshot) })
	defer func() {
		stop()
		scrapes.Wait()
		l.scraper.scrape(ctx)
	}()
	var timed <-chan time.Time
	if d := l.plan.Measure.Duration(); d > 0 {
		timed = time.After(time.Until(l.began.Add(d)))
	}
	// Looks are in the middle of each second. Blocks begin at whole seconds, so a level that ends early has no nearly
	// empty block at its end.
	load.Pause(ctx, lookEvery/2)
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-timed:
			return &ending{state: runs.Complete}
		case <-over:
			if ctx.Err() == nil {
				return &ending{state: runs.Complete}
			}
		case now := <-looks.C:
			l.sink.records.flush()
			seen, lost, ours := l.sink.look(now)
			l.sweep.reportProgress(seen)
			if lost != "" {
				return &ending{state: runs.EndedEarly, why: lost, targetLost: true, ours: ours}
			}
		}
	}
	return &ending{state: runs.Interrupted, why: "the sweep was stopped"}
}

// drain waits until the turns in flight have ended, at their deadlines at the latest.
func (l *level) drain(hard context.Context, over <-chan struct{}) {
	select {
	case <-over:
	case <-time.After(drainOf(l.plan)):
	case <-hard.Done():
	}
}

// drain returns how long turns in flight may take to end.
func drainOf(p fleet.Plan) time.Duration {
	if total := p.Workload.Timeouts.Total; total > 0 {
		return total + drainGrace
	}
	return drainDefault
}
