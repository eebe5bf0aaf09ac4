package backtest

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/turnlog"
)

// Turns replays a log of turns to the real Recorder: what the sidecar that wrote
// it would have exported, scraped. A turn counts from its end, as it did then;
// gaps in the log are times in which a live prober had no turn.
type Turns struct {
	sidecar *Sidecar
	every   time.Duration
	scraped time.Time
	log     *turnlog.Merged
	// next is the turn that starts next, nil after the last; running are those that
	// have not ended, in order of their ends.
	next    *turnlog.Turn
	running []*probe.Result
	// timeouts are those of each job.
	timeouts map[probe.Key]workload.Timeouts
}

// NewTurns returns a replay at the beginning of a log. Turns of other jobs are
// left out. Close it after use.
func NewTurns(log *turnlog.Log, jobs []sink.Job, start time.Time, every time.Duration) (*Turns, error) {
	t := &Turns{
		sidecar: NewSidecar(start), every: every, scraped: start,
		log: log.Read(), timeouts: map[probe.Key]workload.Timeouts{},
	}
	for _, j := range jobs {
		t.sidecar.Add(j)
		t.timeouts[j.Key()] = j.Workload.Timeouts
	}
	if err := t.read(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close closes the log.
func (t *Turns) Close() { t.log.Close() }

// WarmUp plays up to a time without scraping: baselines are learned.
func (t *Turns) WarmUp(ctx context.Context, to time.Time) error {
	for t.scraped.Before(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.scraped = earlier(t.scraped.Add(time.Hour), to)
		if err := t.play(t.scraped); err != nil {
			return err
		}
	}
	return nil
}

// Advance implements Source.
func (t *Turns) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
	scrape := t.sidecar.Scraper(store, wanted)
	for !t.scraped.Add(t.every).After(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.scraped = t.scraped.Add(t.every)
		if err := t.play(t.scraped); err != nil {
			return err
		}
		if err := scrape(); err != nil {
			return err
		}
	}
	return nil
}

// play starts and ends turns up to a time.
func (t *Turns) play(to time.Time) error {
	for {
		switch {
		case len(t.running) > 0 && !t.running[0].End.After(to) && (t.next == nil || !t.running[0].End.After(t.next.At)):
			r := t.running[0]
			t.running = slices.Delete(t.running, 0, 1)
			t.sidecar.Now = r.End
			t.sidecar.Observe(*r)
		case t.next != nil && !t.next.At.After(to):
			if err := t.start(); err != nil {
				return err
			}
		default:
			t.sidecar.Now = to
			return nil
		}
	}
}

// start starts the next turn.
func (t *Turns) start() error {
	if timeouts, known := t.timeouts[t.next.Key()]; known {
		r := t.next.Result()
		if !t.next.Duration.OK {
			r.End = r.End.Add(waited(&r, timeouts))
		}
		t.sidecar.Now = r.Sent
		t.sidecar.Observe(probe.Start{Target: r.Target, Workload: r.Workload, Kind: r.Kind})
		at, _ := slices.BinarySearchFunc(t.running, r.End, func(o *probe.Result, end time.Time) int { return o.End.Compare(end) })
		t.running = slices.Insert(t.running, at, &r)
	}
	return t.read()
}

func (t *Turns) read() (err error) {
	t.next, err = t.log.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// waited is how long a turn whose length was not written waited in vain, after
// what is known of it, until its prober gave it up.
func waited(r *probe.Result, t workload.Timeouts) time.Duration {
	switch r.Outcome {
	case probe.TimeoutFirstToken:
		return t.FirstToken
	case probe.Stall:
		return t.Stall
	case probe.TimeoutTotal:
		return max(0, t.Total-r.Duration())
	}
	return 0
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
