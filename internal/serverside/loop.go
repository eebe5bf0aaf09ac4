package serverside

import (
	"cmp"
	"context"
	"log/slog"
	"time"
)

// loop reads one deployment in a goroutine of its own.
type loop struct {
	watch
	report func(target string, r Reading)
	logger *slog.Logger
	cancel context.CancelFunc
	done   chan struct{}

	// last is what each page said before, by URL.
	last map[string]Sample
	// said is whether the log says that all pages can be read; nil before the
	// first round.
	said *bool
}

func (w *Watcher) start(ctx context.Context, o watch) *loop {
	ctx, cancel := context.WithCancel(ctx)
	l := &loop{
		watch: o, report: w.options.Report, logger: w.options.Logger, cancel: cancel,
		done: make(chan struct{}), last: map[string]Sample{},
	}
	go func() {
		defer close(l.done)
		l.run(ctx)
	}()
	return l
}

// end ends the loop and waits for it.
func (l *loop) end() {
	l.cancel()
	<-l.done
	l.client.Close()
}

func (l *loop) run(ctx context.Context) {
	tick := time.NewTicker(l.Interval)
	defer tick.Stop()
	for {
		r, err := l.read(ctx)
		if ctx.Err() != nil {
			return // what our own end cut short says nothing of the server
		}
		l.report(l.Target.Name, r)
		l.say(r, err)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// read asks every page once. The error is of the first that gave none; the
// others count all the same. A page that could not be read is compared with
// what it said before once it can.
func (l *loop) read(ctx context.Context) (Reading, error) {
	var pages []Speculation
	var failed error
	for _, u := range l.URLs {
		sample, err := l.client.Scrape(ctx, u)
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		pages = append(pages, speculation(l.last[u], sample))
		l.last[u] = sample
	}
	return Reading{failed == nil, combined(pages)}, failed
}

// say logs when reading begins to work or to fail, and not each time.
func (l *loop) say(r Reading, err error) {
	if l.said != nil && *l.said == r.Complete {
		return
	}
	l.said = &r.Complete
	if !r.Complete {
		l.logger.Warn("The server's metrics cannot be read: nothing is known of its speculative decoding", "target", l.Target.Name, "err", err)
		return
	}
	l.logger.Info("The server's metrics are read", "target", l.Target.Name, "pages", len(l.URLs), "counts_drafts", r.Counted)
}
