package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/study/runfile"
)

// ErrNoWorkers means that workers did not answer before the sweep began.
var ErrNoWorkers = errors.New("workers do not answer")

// ErrBusy means that a worker belongs to another sweep.
var ErrBusy = errors.New("it is busy with another sweep,")

const (
	// clockRounds is the number of requests in one measurement of a clock. The fastest one counts.
	clockRounds = 8
	// rejoinWait is how long a level waits for workers that do not answer at once. answerWait bounds
	// one attempt.
	rejoinWait, answerWait = 5 * time.Second, 5 * time.Second
	// checkWait bounds one attempt to have the plan checked. A worker goes on reading a large plan
	// after that, and answers the next attempt.
	checkWait = 20 * time.Second
	// logWaitingEvery is the interval of messages about missing workers. They begin after
	// logWaitingAfter, because processes start at different times.
	logWaitingEvery, logWaitingAfter = time.Minute, 5 * time.Second
)

// join waits until all workers answer and have accepted the plan, for patience at most. It takes each worker that is
// free. A worker of a sweep that runs ends it at once. Of sweeps that begin together and share workers, those with a
// lower id wait and the others end (see holder.admit), so that one of them gets all its workers.
func (w *Workers) join(ctx context.Context, o order, patience time.Duration) error {
	w.begins.Store(true)
	defer w.begins.Store(false)
	missing, err := w.gather(ctx, w.all, o, patience, false)
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case err != nil:
		return err
	case missing != nil:
		return fmt.Errorf("%w for %s: %s; start each with synthetic sweep --worker, and the same token", ErrNoWorkers, patience, runfile.LostWorkers(missing))
	}
	return nil
}

func explainBusy(x *worker, err error) error {
	return fmt.Errorf("worker %s: %w; try again when that sweep has ended, or %s after its shard 0 died, or name other workers", x.name, err, heldFor)
}

// gather measures the clocks of workers and has them check an order. It repeats this for workers
// without an answer until patience is over, and returns these workers. A worker that refuses, or belongs
// to another sweep, counts as one without an answer if mayRefuse is set; otherwise gather returns an
// error at once.
func (w *Workers) gather(ctx context.Context, all []*worker, o order, patience time.Duration, mayRefuse bool) ([]runfile.LostWorker, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding the plan: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, max(patience, answerWait))
	defer cancel()
	began := time.Now()
	tell := began.Add(logWaitingAfter)
	reasons := map[*worker]string{}
	for {
		errs := make([]error, len(all))
		var asked sync.WaitGroup
		for i, x := range all {
			asked.Go(func() {
				if errs[i] = w.measureClock(limited, x); errs[i] == nil {
					errs[i] = w.check(limited, x, data)
				}
			})
		}
		asked.Wait()
		var missing []runfile.LostWorker
		var left []*worker
		for i, err := range errs {
			switch {
			case !mayRefuse && errors.Is(err, ErrBusy):
				return nil, explainBusy(all[i], err)
			case !mayRefuse && errors.As(err, new(refusedError)):
				return nil, fmt.Errorf("worker %s refuses the sweep: %w", all[i].name, err)
			}
			if err != nil {
				if reasons[all[i]] == "" || limited.Err() == nil { // an attempt that patience cut has no reason
					reasons[all[i]] = err.Error()
				}
				missing, left = append(missing, runfile.LostWorker{Name: all[i].name, Why: reasons[all[i]]}), append(left, all[i])
			}
		}
		if missing == nil || ctx.Err() != nil || time.Since(began) >= patience {
			return missing, nil
		}
		if now := time.Now(); now.After(tell) {
			tell = now.Add(logWaitingEvery)
			w.Logger.Warn("Waiting for workers", "workers", runfile.LostWorkers(missing), "at_most", patience)
		}
		all = left
		load.Pause(ctx, lineEvery)
	}
}

// hold keeps the workers for the sweep until the returned function is called, which frees them.
func (w *Workers) hold(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var holding sync.WaitGroup
	holding.Go(func() {
		for load.Pause(ctx, holdEvery) {
			w.tell(ctx, pathHold)
		}
	})
	return func() {
		cancel()
		holding.Wait()
		w.tell(context.WithoutCancel(ctx), pathLeave)
	}
}

// tell sends all workers an empty request. One that does not hear pathLeave is free after heldFor.
func (w *Workers) tell(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	var telling sync.WaitGroup
	for _, x := range w.all {
		telling.Go(func() { _ = w.post(ctx, x, path, nil) })
	}
	telling.Wait()
}

// check has a worker check an order.
func (w *Workers) check(ctx context.Context, x *worker, o []byte) error {
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	return w.post(ctx, x, pathCheck, bytes.NewReader(o))
}

// measureClock asks a worker for its time. That time lies between the request and the answer, so
// half of the fastest round trip bounds the error (as in NTP, RFC 5905 section 8). Clocks drift, so
// each level measures it.
func (w *Workers) measureClock(ctx context.Context, x *worker) error {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	best := time.Duration(math.MaxInt64)
	for range clockRounds {
		sent := time.Now()
		resp, err := w.call(ctx, http.MethodGet, x.url+pathClock, nil)
		if err != nil {
			return err
		}
		var there time.Time
		err = json.NewDecoder(io.LimitReader(resp.Body, 1<<10)).Decode(&there)
		took := time.Since(sent)
		if _, e := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10)); e == nil { // so that the connection is used again
			_ = resp.Body.Close()
		}
		if err != nil {
			return fmt.Errorf("reading its time: %w", err)
		}
		if took < best {
			best = took
			x.offset, x.within = sent.Add(took/2).Sub(there), took/2
		}
	}
	return nil
}
