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

// turnSource replays a log of turns through a Sidecar, and so has the series that the sidecar
// of the log would have exported. A turn and a session count when they end, as they do live. A gap in the log
// is a time without turns.
type turnSource struct {
	sidecar        *Sidecar
	scrapeInterval time.Duration
	scraped        time.Time
	log            *turnlog.Merged
	// next is the turn that starts next; nil after the last. running are the turns that have
	// not ended, sorted by end.
	next     *turnlog.Turn
	running  []*probe.Result
	timeouts map[probe.Key]workload.Timeouts
}

// newTurnSource returns a replay at the beginning of a surveyed log. It ignores turns of other jobs. The
// caller must close it.
func newTurnSource(log *turnlog.Log, survey Survey, jobs []sink.Job, scrapeInterval time.Duration) (*turnSource, error) {
	t := &turnSource{
		sidecar: NewSidecar(survey.First), scrapeInterval: scrapeInterval, scraped: survey.First,
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

func (t *turnSource) Close() { t.log.Close() }

// warmUp plays turns up to a time without scraping, so that baselines are learned.
func (t *turnSource) warmUp(ctx context.Context, to time.Time, progress func(at time.Time)) error {
	for t.scraped.Before(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.scraped = earlier(t.scraped.Add(time.Hour), to)
		if err := t.play(t.scraped); err != nil {
			return err
		}
		progress(t.scraped)
	}
	return nil
}

// Advance implements Source.
func (t *turnSource) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
	scrape := t.sidecar.Scraper(store, wanted)
	for !t.scraped.Add(t.scrapeInterval).After(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.scraped = t.scraped.Add(t.scrapeInterval)
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
func (t *turnSource) play(to time.Time) error {
	for {
		switch {
		case len(t.running) > 0 && !t.running[0].End.After(to) && (t.next == nil || !t.running[0].End.After(t.next.At)):
			r := t.running[0]
			t.running = slices.Delete(t.running, 0, 1)
			t.sidecar.Now = r.End
			t.sidecar.Observe(*r)
		case t.next != nil && !t.next.At.After(to):
			if err := t.startNext(); err != nil {
				return err
			}
		default:
			t.sidecar.Now = to
			return nil
		}
	}
}

func (t *turnSource) startNext() error {
	if timeouts, known := t.timeouts[t.next.Key()]; known {
		r := t.next.Result()
		if !t.next.Duration.OK {
			r.End = r.End.Add(remaining(&r, timeouts))
		}
		t.sidecar.Now = r.Sent
		t.sidecar.Observe(probe.Start{Target: r.Target, Workload: r.Workload, Kind: r.Kind})
		at, _ := slices.BinarySearchFunc(t.running, r.End, func(o *probe.Result, end time.Time) int { return o.End.Compare(end) })
		t.running = slices.Insert(t.running, at, &r)
	}
	return t.read()
}

func (t *turnSource) read() (err error) {
	t.next, err = t.log.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// remaining returns how long a turn of unknown length lasted beyond the logged part: until the
// prober's deadline.
func remaining(r *probe.Result, t workload.Timeouts) time.Duration {
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
