package sweep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
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

// Workers are the other processes that share the load of a sweep. The goroutine of the sweep calls
// the methods.
type Workers struct {
	Logger *slog.Logger
	token  string
	sweep  string // identifies the sweep
	client *http.Client

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

// join takes the workers, and waits until all answer, for patience at most, and have accepted the plan.
// It does not wait for a worker of another sweep, so that two sweeps cannot wait for each other.
func (w *Workers) join(ctx context.Context, o order, patience time.Duration) error {
	if err := w.claim(ctx); err != nil {
		return err
	}
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

// claim takes the workers that answer, one after the other by their names: of two sweeps that begin
// together, one gets all workers that both name.
func (w *Workers) claim(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	for _, x := range slices.SortedFunc(slices.Values(w.all), func(a, b *worker) int { return strings.Compare(a.name, b.name) }) {
		if err := w.post(ctx, x, pathHold, nil); errors.Is(err, ErrBusy) {
			return explainBusy(x, err)
		}
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

// post sends a request that has an empty answer.
func (w *Workers) post(ctx context.Context, x *worker, path string, body io.Reader) error {
	resp, err := w.call(ctx, http.MethodPost, x.url+path, body)
	if err != nil {
		return err
	}
	return resp.Body.Close() // it is empty
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

// call sends a request. An answer other than 2xx is an error.
func (w *Workers) call(ctx context.Context, method, address string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set(sweepHeader, w.sweep)
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address, which the name of the worker says
		}
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // the status says enough
	why := cmp.Or(strings.TrimSpace(string(text)), resp.Status)
	if resp.StatusCode == http.StatusLocked {
		return nil, fmt.Errorf("%w %s", ErrBusy, why)
	}
	if resp.StatusCode/100 == 4 {
		return nil, refusedError(why)
	}
	return nil, errors.New(why)
}

// refusedError says why a worker refuses an order. A retry does not help.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// carry sends a worker its part of a level, and stores the answers.
func (w *Workers) carry(ctx context.Context, x *worker, o order) {
	err := w.exchange(ctx, x, o)
	w.update(func() {
		if err != nil {
			x.lost = cmp.Or(x.lost, err.Error())
			x.refused = x.refused || errors.As(err, new(refusedError))
		}
	})
}

func (w *Workers) exchange(ctx context.Context, x *worker, o order) error {
	ctx, cut := context.WithCancel(ctx)
	from, to := io.Pipe()
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cut()
	ended, end := context.WithCancel(ctx)
	defer end()
	writing.Go(func() { _ = to.CloseWithError(w.write(ended, x, o, to)) })
	resp, err := w.call(ctx, http.MethodPost, x.url+pathLevel, from)
	if err != nil {
		return errors.Join(err, from.Close())
	}
	defer resp.Body.Close()
	defer from.Close()
	body := &answerReader{Reader: resp.Body, seen: func() { w.update(func() { x.seen = time.Now() }) }}
	var turnBytes int64
	lines := json.NewDecoder(body)
	for {
		var a answer
		body.left = maxLine
		if err := lines.Decode(&a); err != nil {
			return fmt.Errorf("the connection broke: %w", err)
		}
		if a.Lost != "" {
			return errors.New(a.Lost)
		}
		w.update(func() {
			x.ready = x.ready || a.Ready
			if a.Report != nil {
				x.report = a.Report
			}
			x.result = a.Result
		})
		if a.Result != nil {
			turnBytes = a.TurnBytes
			break
		}
	}
	end() // the worker waits for the end of the request
	rest := io.MultiReader(lines.Buffered(), body)
	if _, err := io.ReadFull(rest, make([]byte, 1)); err != nil { // the end of the line
		return fmt.Errorf("the connection broke: %w", err)
	}
	body.left = maxTurns
	if err := writeTurns(x.turns, rest, turnBytes); err != nil {
		return err
	}
	w.update(func() { x.done = true })
	return nil
}

// write writes the order and the commands until ctx ends.
func (w *Workers) write(ctx context.Context, x *worker, o order, to io.Writer) error {
	lines := json.NewEncoder(to)
	if err := lines.Encode(o); err != nil {
		return err
	}
	tick := time.NewTicker(lineEvery)
	defer tick.Stop()
	var told command
	for {
		changed := w.news()
		if c := w.decided(x); c == told {
			select {
			case <-changed:
				continue
			case <-tick.C: // a sign of life
			case <-ctx.Done():
				return io.EOF // ends the request
			}
		}
		told = w.decided(x)
		if err := lines.Encode(told); err != nil {
			return err
		}
	}
}

// decided returns the command by the worker's clock.
func (w *Workers) decided(x *worker) command {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.command
	for _, t := range []*time.Time{&c.Begin, &c.End} {
		if !t.IsZero() {
			*t = t.Add(-x.offset)
		}
	}
	return c
}

// answerReader calls seen for each piece that it reads. It reads left more bytes.
type answerReader struct {
	io.Reader
	seen func()
	left int64
}

func (r *answerReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errors.New("the answer is too long")
	}
	n, err := r.Reader.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.seen()
	return n, err
}

// writeTurns writes the turns of a worker, which are size bytes, into a new file.
func writeTurns(path string, from io.Reader, size int64) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("keeping the turns of a worker: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := io.Copy(file, from)
	switch {
	case err != nil:
		return fmt.Errorf("reading its turns: %w", err)
	case n != size:
		return fmt.Errorf("reading its turns: %d bytes arrived, want %d", n, size)
	}
	return nil
}

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
