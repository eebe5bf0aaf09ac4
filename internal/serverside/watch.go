package serverside

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe/target"
)

// Watched is a deployment whose own metrics are read for as long as it is
// probed.
type Watched struct {
	Target target.Target
	// URLs are its pages: one, or one for each worker.
	URLs []string
	// Interval is the time between two readings of all pages.
	Interval time.Duration
}

// Reading is what the pages of a deployment said in one round.
type Reading struct {
	// Complete says that every page was read.
	Complete bool
	Speculation
}

// WatcherOptions are what a Watcher needs. Dial opens connections, nil means
// TCP.
type WatcherOptions struct {
	// Report takes each reading, from the goroutine of its deployment.
	Report func(target string, r Reading)
	Logger *slog.Logger
	Dial   func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Watcher reads the metrics of deployments, each in a loop of its own, while it
// runs.
type Watcher struct {
	options WatcherOptions
	changed chan struct{}

	mu     sync.Mutex
	wanted []watch
}

// watch is a deployment with the client that reads it.
type watch struct {
	Watched
	client *Client
}

// NewWatcher returns a Watcher of nothing; Prepare says of what.
func NewWatcher(o WatcherOptions) *Watcher {
	return &Watcher{options: o, changed: make(chan struct{}, 1)}
}

// Prepare checks a new set of deployments, each named once. Nothing changes
// before commit is called. The error names the deployment whose TLS files
// cannot be used.
func (w *Watcher) Prepare(set []Watched) (commit func(), err error) {
	wanted := make([]watch, len(set))
	for i, s := range set {
		client, err := NewClient(s.Target, w.options.Dial)
		if err != nil {
			return nil, fmt.Errorf("target %q: %w", s.Target.Name, err)
		}
		wanted[i] = watch{s, client}
	}
	return func() {
		w.mu.Lock()
		w.wanted = wanted
		w.mu.Unlock()
		select {
		case w.changed <- struct{}{}:
		default: // Run has yet to look at the change before
		}
	}, nil
}

// Run reads until ctx is done, and returns when the last loop has ended. Call
// it once.
func (w *Watcher) Run(ctx context.Context) error {
	loops := map[string]*loop{}
	defer func() {
		for _, l := range loops {
			l.end()
		}
	}()
	for {
		w.reconcile(ctx, loops)
		select {
		case <-ctx.Done():
			return nil
		case <-w.changed:
		}
	}
}

// reconcile ends the loops that are not wanted any more, or otherwise, and
// starts those that are not there. A deployment that did not change keeps its
// loop, and with it the counts that its next reading is compared with.
func (w *Watcher) reconcile(ctx context.Context, loops map[string]*loop) {
	w.mu.Lock()
	wanted := slices.Clone(w.wanted)
	w.mu.Unlock()
	for name, l := range loops {
		if !slices.ContainsFunc(wanted, func(o watch) bool { return reflect.DeepEqual(o.Watched, l.Watched) }) {
			l.end()
			delete(loops, name)
		}
	}
	for _, o := range wanted {
		if loops[o.Target.Name] == nil {
			loops[o.Target.Name] = w.start(ctx, o)
		}
	}
}
