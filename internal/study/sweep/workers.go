package sweep

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"synthetic/internal/study/runfile"
)

// Workers are the other processes that share the load of a sweep. The goroutine of the sweep calls
// the methods.
type Workers struct {
	Logger *slog.Logger
	token  string
	sweep  string // identifies the sweep
	client *http.Client

	begins atomic.Bool // set until all workers have accepted the sweep

	mu      sync.Mutex
	all     []*worker
	command command       // of the level, by this process's clock
	changed chan struct{} // closed and replaced when a worker tells something or the command changes
}

// worker is another process, and its state in the current level.
type worker struct {
	name, url string
	// away is set while the worker takes part in no level, refused for the rest of the sweep, because
	// it refused a level.
	away, refused bool
	why           string // why it was away at the begin of the last level, or ""
	// offset plus the worker's clock is this process's clock, within ± within.
	offset, within time.Duration

	seen   time.Time
	ready  bool
	report *levelReport
	result *runfile.Result
	turns  string // path of its turn log here, complete if done
	done   bool
	lost   string // why it is lost for the level, or ""
}

// NewWorkers returns workers by the URLs of their servers. Their names are host and port.
func NewWorkers(urls []string, token string, transport http.RoundTripper) *Workers {
	w := &Workers{Logger: slog.New(slog.DiscardHandler), token: token, client: &http.Client{Transport: transport}, changed: make(chan struct{})}
	for _, u := range urls {
		_, name, _ := strings.Cut(u, "://")
		w.all = append(w.all, &worker{name: name, url: u})
	}
	return w
}

// Count returns the number of processes with this one.
func (w *Workers) Count() int { return len(w.all) + 1 }

// update changes the state of workers and wakes all waiting goroutines.
func (w *Workers) update(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	close(w.changed)
	w.changed = make(chan struct{})
}

// news returns a channel that is closed at the next change.
func (w *Workers) news() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// await waits until finished returns true for each worker that is not lost. When limit is over, the
// other workers are lost.
func (w *Workers) await(ctx context.Context, limit time.Duration, finished func(*worker) bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	look := time.NewTicker(lineEvery) // to notice silent workers
	defer look.Stop()
	open := func(x *worker) bool { return x.lost == "" && !finished(x) }
	for {
		changed := w.news()
		w.markSilent()
		w.mu.Lock()
		waits := slices.ContainsFunc(w.present(), open)
		w.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-changed:
			continue
		case <-look.C:
			continue
		case <-ctx.Done():
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, x := range w.present() {
			if open(x) {
				x.lost = fmt.Sprintf("it was not done %s after shard 0", limit.Round(time.Second))
			}
		}
		return
	}
}

// present returns the workers that carry a part of the level.
func (w *Workers) present() []*worker {
	return slices.DeleteFunc(slices.Clone(w.all), func(x *worker) bool { return x.away })
}

func (w *Workers) markSilent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.present() {
		if !x.done && time.Since(x.seen) > silenceLimit {
			x.lost = cmp.Or(x.lost, fmt.Sprintf("no sign of life for %s", silenceLimit))
		}
	}
}

// lost returns the workers that are lost for the level.
func (w *Workers) lost() (all []runfile.LostWorker) {
	w.markSilent()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.present() {
		if x.lost != "" {
			all = append(all, runfile.LostWorker{Name: x.name, Why: x.lost})
		}
	}
	return all
}
