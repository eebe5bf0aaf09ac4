package sweep

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/load"
	"synthetic/internal/study/runfile"
)

const (
	// headStart is the time between the announcement of a load's start and the start. haltAhead is
	// the same for an early end.
	headStart, haltAhead = time.Second, 2 * time.Second
	// keeping bounds how long workers send the results of a level after its last turn.
	keeping = 2 * time.Minute
)

// leader is the team of the process that runs the sweep. It decides by the sum of all counts, and
// adds the results of the workers to its own.
type leader struct {
	*Workers
	announced time.Time // when the level was announced
	cut       context.CancelFunc
	carrying  sync.WaitGroup
}

// prepare divides the level between this process and the workers that answer, and sends their
// parts. Workers that are lost for the same level stay out of it.
func (t *leader) prepare(ctx context.Context, l *level) error {
	t.release()
	l.sweep.phase(phaseWorkers)
	left, err := t.rejoin(ctx, l.sweep.losses, l.sweep.Options.order())
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case err != nil:
		return err
	}
	l.sweep.losses = append(l.sweep.losses, left...)
	present := t.present()
	t.announced, t.command = time.Now(), command{}
	o := l.sweep.Options.order()
	o.Level, o.Part.Count = l.named, len(present)+1
	l.sweep.Part = load.Shard{Count: o.Part.Count}
	carry, cut := context.WithCancel(ctx)
	t.cut = cut
	for i, x := range present {
		x.seen, x.ready, x.report, x.result, x.done, x.lost = time.Now(), false, nil, nil, false, ""
		o.Part.Index = i + 1
		own := o
		x.turns = l.sweep.store.path("levels", fmt.Sprintf("%spart-%d%s", atomicfile.TempPrefix, i+1, turnsSuffix))
		t.carrying.Go(func() { t.carry(carry, x, own) })
	}
	return nil
}

// rejoin decides which workers take part in the level: workers that answer, except losses of the same
// level and workers that refused a level. It returns the workers that took part in the last level and
// do not answer now, refuse the sweep, or belong to another one.
func (t *leader) rejoin(ctx context.Context, losses []runfile.LostWorker, o order) (left []runfile.LostWorker, err error) {
	var asked []*worker
	for _, x := range t.all {
		if x.refused || slices.ContainsFunc(losses, func(lost runfile.LostWorker) bool { return lost.Name == x.name }) {
			x.away = true
		} else {
			asked = append(asked, x)
		}
	}
	missing := map[string]string{}
	absent, err := t.gather(ctx, asked, o, rejoinWait, true)
	if err != nil {
		return nil, err
	}
	for _, m := range absent {
		missing[m.Name] = m.Why
	}
	for _, x := range asked {
		why, away := missing[x.name]
		switch {
		case away && !x.away:
			t.Logger.Warn("A worker takes no part; the load is divided without it", "worker", x.name, "why", why)
			left = append(left, runfile.LostWorker{Name: x.name, Why: why})
		case away && why != x.why:
			t.Logger.Warn("A worker still takes no part", "worker", x.name, "why", why)
		case !away && x.away:
			t.Logger.Info("A worker takes part again", "worker", x.name)
		}
		x.away, x.why = away, why
	}
	return left, nil
}

// release ends the requests of a level, and removes the turns of the workers.
func (t *leader) release() {
	if t.cut == nil {
		return
	}
	t.cut()
	t.carrying.Wait()
	t.cut = nil
	for _, x := range t.present() {
		_ = os.Remove(x.turns) // it may not exist; --resume removes what is left
	}
}

// begin waits for the workers as long as this process prepared its own part, plus the time of a
// turn.
func (t *leader) begin(ctx context.Context, l *level) (time.Time, *ending) {
	t.await(ctx, time.Since(t.announced)+l.plan.drain(), func(x *worker) bool { return x.ready })
	if end := t.ended(); end != nil {
		return time.Time{}, end
	}
	at := time.Now().Add(headStart)
	t.update(func() { t.command.Begin = at })
	return at, nil
}

// ended returns the end of a level that has lost workers.
func (t *leader) ended() *ending {
	lost := t.lost()
	if lost == nil {
		return nil
	}
	end := endEarly(runfile.NotJudgedBecause("not reached"), "lost: %s", runfile.LostWorkers(lost))
	end.lost = lost
	return end
}

func (t *leader) look(ctx context.Context, l *level, now time.Time, seen *levelReport) *ending {
	t.mu.Lock()
	for _, x := range t.present() {
		addReport(seen, x.name, x.report)
	}
	t.mu.Unlock()
	if end := t.ended(); end != nil {
		return end
	}
	end := l.watcher.check(now, *seen)
	if end != nil {
		at := now.Add(haltAhead)
		t.update(func() { t.command.End = at })
		load.Pause(ctx, time.Until(at))
	}
	return end
}

// conclude adds the results of the workers, and judges the whole.
func (t *leader) conclude(ctx context.Context, l *level, end *ending, r *runfile.Result) {
	if end.state == runfile.Interrupted || end.lost != nil {
		return
	}
	limit := l.plan.drain() + keeping
	if l.plan.Measure.Conversations > 0 { // such levels end with their conversations
		limit += time.Since(t.announced)
	}
	t.await(ctx, limit, func(x *worker) bool { return x.done })
	if end.lost = t.lost(); end.lost != nil || ctx.Err() != nil {
		return
	}
	all := []runfile.Result{*r}
	for _, x := range t.present() {
		x.result.Shift(x.offset)
		all = append(all, *x.result)
		r.Workers = append(r.Workers, runfile.Worker{Name: x.name, OffsetSeconds: x.offset.Seconds(), ErrorSeconds: x.within.Seconds()})
	}
	r.Unreached = describeSkew(all, l.plan.Measure.Conversations > 0)
	for _, o := range all[1:] {
		r.Merge(o)
	}
	singleProcess{}.conclude(ctx, l, end, r)
}

// collect merges the turns of the workers into the log of this process.
func (t *leader) collect(path string, r *runfile.Result) error {
	defer t.release()
	if r.Workers == nil {
		return nil
	}
	logs := []partLog{{path: path}}
	for _, x := range t.present() {
		logs = append(logs, partLog{path: x.turns, offset: x.offset})
	}
	if err := mergeLogs(path, logs, r); err != nil {
		return fmt.Errorf("merging the turns of %s: %w", strings.TrimSuffix(path, turnsSuffix), err)
	}
	return nil
}

func (o *Options) order() order {
	return order{Protocol: protocolVersion, Path: o.Plan.Path, Plan: string(o.Plan.Text), Workload: o.Plan.digest(), Levels: o.Plan.Levels}
}
