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
	"synthetic/internal/probe/wire"
)

// Watched is a deployment whose metrics are read while it is probed.
type Watched struct {
	Target target.Target
	// URLs are its pages of metrics: one, or one for each worker.
	URLs []string
}

// Reading is the result of reading all pages of a deployment once.
type Reading struct {
	// Complete is true if every page was read.
	Complete bool
	// Requests is the number of requests for the pages that were sent.
	Requests int
	State
}

// WatcherOptions configure a Watcher.
type WatcherOptions struct {
	// Report receives each reading, in the goroutine of its deployment.
	Report func(target string, r Reading)
	Logger *slog.Logger
	// Interval is the time between two readings of all pages; 0 means 10 s.
	Interval time.Duration
	// Dial opens connections; nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Watcher reads the metrics of deployments, each in its own goroutine.
type Watcher struct {
	options WatcherOptions
	// changed holds the latest set of loops, by target, that Run has not seen.
	changed chan map[string]*loop
}

// loop reads the metrics of one deployment.
type loop struct {
	Watched
	WatcherOptions
	client *Client
	cancel context.CancelFunc
	work   sync.WaitGroup

	// previous holds the previous sample of each page, by URL.
	previous map[string]Sample
	// loggedComplete is the last logged value of Complete; nil before the first reading.
	loggedComplete *bool
}

// NewWatcher returns a Watcher without deployments. Prepare sets them.
func NewWatcher(o WatcherOptions) *Watcher {
	return &Watcher{options: o, changed: make(chan map[string]*loop, 1)}
}

// Prepare checks a new set of deployments with different names. The returned function applies
// it. The error names a deployment whose TLS files are unusable.
func (w *Watcher) Prepare(set []Watched) (commit func(), err error) {
	wanted := map[string]*loop{}
	for _, s := range set {
		client, err := NewClient(s.Target, w.options.Dial)
		if err != nil {
			return nil, fmt.Errorf("target %q: %w", s.Target.Name, err)
		}
		wanted[s.Target.Name] = &loop{Watched: s, WatcherOptions: w.options, client: client, previous: map[string]Sample{}}
	}
	return func() {
		select {
		case <-w.changed: // Run has not seen the previous set
		default:
		}
		w.changed <- wanted
	}, nil
}

// Run reads metrics until ctx is done and all goroutines have ended. Call it once.
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
// deployment keeps its loop, and with it the previous samples.
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
		var loopCtx context.Context
		loopCtx, l.cancel = context.WithCancel(ctx)
		l.work.Go(func() { l.run(loopCtx) })
	}
}

func (l *loop) run(ctx context.Context) {
	tick := time.NewTicker(cmp.Or(l.Interval, 10*time.Second))
	defer tick.Stop()
	for {
		r, err := l.read(ctx)
		if ctx.Err() != nil {
			return // the error is due to the end of ctx
		}
		l.Report(l.Target.Name, r)
		l.logChange(r, err)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// read reads every page once and returns the first error. Pages after a failed one still count.
// After a failure, a page is compared with its last successful reading.
func (l *loop) read(ctx context.Context) (r Reading, failed error) {
	var read []change
	for _, u := range l.URLs {
		var trace wire.Trace
		sample, err := l.client.Scrape(wire.WithTrace(ctx, &trace), u)
		if trace.Sent() {
			r.Requests++
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		sample.markProgress(l.previous[u])
		read = append(read, change{l.previous[u], sample})
		l.previous[u] = sample
	}
	r.Complete, r.State = failed == nil, newChanges(read, l.previous).state()
	return r, failed
}

// logChange logs when reading begins to succeed or to fail.
func (l *loop) logChange(r Reading, err error) {
	if l.loggedComplete != nil && *l.loggedComplete == r.Complete {
		return
	}
	l.loggedComplete = &r.Complete
	if r.Complete {
		l.Logger.Info("Reading the server's metrics", "target", l.Target.Name, "pages", len(l.URLs))
		return
	}
	l.Logger.Warn("Cannot read the server's metrics; its load is unknown", "target", l.Target.Name, "err", err)
}
