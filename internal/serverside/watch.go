package serverside

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"sync"
	"time"

	"synthetic/internal/probe/target"
)

// Watched is a deployment whose metrics are read while it is probed.
type Watched struct {
	Target target.Target
	// URLs are its pages: one, or one for each worker.
	URLs []string
	// Interval is the time between two readings of all pages.
	Interval time.Duration
}

// Reading is the result of reading all pages of a deployment once.
type Reading struct {
	// true if every page was read
	Complete bool
	Speculation
}

// WatcherOptions configure a Watcher. Dial opens connections; nil means TCP.
type WatcherOptions struct {
	// Report receives each reading, in the goroutine of its deployment.
	Report func(target string, r Reading)
	Logger *slog.Logger
	Dial   func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Watcher reads the metrics of deployments, each in its own loop.
type Watcher struct {
	options WatcherOptions
	// changed holds the latest set that Run has not seen, by target.
	changed chan map[string]*loop
}

// loop reads one deployment in its own goroutine.
type loop struct {
	Watched
	WatcherOptions
	client *Client
	cancel context.CancelFunc
	work   sync.WaitGroup

	// last is the previous sample of each page, by URL.
	last map[string]Sample
	// said is whether the log says that all pages can be read; nil before the first round.
	said *bool
}

// NewWatcher returns a Watcher without deployments. Prepare sets them.
func NewWatcher(o WatcherOptions) *Watcher {
	return &Watcher{options: o, changed: make(chan map[string]*loop, 1)}
}

// Prepare checks a new set of deployments, each named once. The returned function puts it into
// force. The error names a deployment with unusable TLS files.
func (w *Watcher) Prepare(set []Watched) (commit func(), err error) {
	wanted := map[string]*loop{}
	for _, s := range set {
		client, err := NewClient(s.Target, w.options.Dial)
		if err != nil {
			return nil, fmt.Errorf("target %q: %w", s.Target.Name, err)
		}
		wanted[s.Target.Name] = &loop{Watched: s, WatcherOptions: w.options, client: client, last: map[string]Sample{}}
	}
	return func() {
		select {
		case <-w.changed: // Run has not seen the previous set
		default:
		}
		w.changed <- wanted
	}, nil
}

// Run reads until ctx is done, and returns when the last loop has ended. Call it once.
func (w *Watcher) Run(ctx context.Context) error {
	loops := map[string]*loop{}
	for {
		select {
		case <-ctx.Done():
			reconcile(ctx, loops, nil)
			return nil
		case wanted := <-w.changed:
			reconcile(ctx, loops, wanted)
		}
	}
}

// reconcile ends loops that were removed or changed, and starts missing ones. An unchanged
// deployment keeps its loop, and with it the counts for the next reading.
func reconcile(ctx context.Context, loops, wanted map[string]*loop) {
	for name, l := range loops {
		if n := wanted[name]; n == nil || !reflect.DeepEqual(n.Watched, l.Watched) {
			l.cancel()
			l.work.Wait()
			l.client.Close()
			delete(loops, name)
		}
	}
	for name, l := range wanted {
		if loops[name] != nil {
			l.client.Close()
			continue
		}
		loops[name] = l
		var own context.Context
		own, l.cancel = context.WithCancel(ctx)
		l.work.Go(func() { l.run(own) })
	}
}

func (l *loop) run(ctx context.Context) {
	tick := time.NewTicker(l.Interval)
	defer tick.Stop()
	for {
		r, err := l.read(ctx)
		if ctx.Err() != nil {
			return // our own shutdown caused the error
		}
		l.Report(l.Target.Name, r)
		l.say(r, err)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// read reads every page once. The error is that of the first page that failed; other pages
// still count. After a failure, a page is compared with its last successful reading.
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

// say logs when reading begins to work or to fail.
func (l *loop) say(r Reading, err error) {
	if l.said != nil && *l.said == r.Complete {
		return
	}
	l.said = &r.Complete
	if !r.Complete {
		l.Logger.Warn("The server's metrics cannot be read: nothing is known of its speculative decoding", "target", l.Target.Name, "err", err)
		return
	}
	l.Logger.Info("The server's metrics are read", "target", l.Target.Name, "pages", len(l.URLs), "counts_drafts", r.Counted)
}
