package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/study/runfile"
)

// Worker is an http.Handler that carries parts of levels for sweeps of other processes, one at a
// time. The server has to limit request bodies to MaxRequest.
type Worker struct {
	// Options has what this process adds to an order: Dial, Lag, Throttled, Progress, Exporter and
	// Logger.
	Options Options
	// Parse reads the text of a plan file; path gives the directory of the files that it names.
	Parse func(path string, text []byte) (Plan, error)
	Token string // "" admits nobody
	// Stopped ends the level in progress.
	Stopped context.Context

	busy   sync.Mutex
	holder holder

	parsing sync.Mutex // held while a plan is read, which may take longer than silenceLimit
	// The plan that was read last, for the orders after the first of a sweep.
	parsed             Plan
	path, text, digest string
}

var (
	errStopped = errors.New("it was stopped")
	errSilent  = errors.New("it lost the connection to shard 0")
)

// ServeHTTP implements the worker's side of the protocol.
func (w *Worker) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var serve http.HandlerFunc
	switch r.Method + " " + r.URL.Path {
	case "GET " + pathClock:
		serve = w.clock
	case "POST " + pathCheck, "POST " + pathLevel:
		serve = w.order
	case "POST " + pathHold:
		serve = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNoContent) }
	case "POST " + pathLeave:
		serve = func(rw http.ResponseWriter, _ *http.Request) { w.holder.leave(); rw.WriteHeader(http.StatusNoContent) }
	}
	sweep := r.Header.Get(sweepHeader)
	switch {
	case !authorized(r.Header.Get("Authorization"), w.Token):
		http.Error(rw, "wrong token: give shard 0 and all workers the same one (--workers.token-file)", http.StatusUnauthorized)
	case serve == nil:
		http.Error(rw, "this is a worker of a sweep", http.StatusNotFound)
	case sweep == "":
		http.Error(rw, "a request names its sweep in the header "+sweepHeader+": run the same synthetic everywhere", http.StatusBadRequest)
	default:
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		switch other, mayWait := w.holder.admit(sweep, host, r.Header.Get(beginsHeader) != ""); {
		case mayWait:
			http.Error(rw, "another sweep, "+other+", is about to begin, too", http.StatusServiceUnavailable)
		case other != "":
			http.Error(rw, other, http.StatusLocked)
		default:
			serve(rw, r)
		}
	}
}

// clock answers with the time.
func (w *Worker) clock(rw http.ResponseWriter, _ *http.Request) {
	if !w.busy.TryLock() {
		http.Error(rw, "it still carries another level", http.StatusServiceUnavailable)
		return
	}
	defer w.busy.Unlock()
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(time.Now()) // fails only if shard 0 is gone
}

// order checks an order, and carries it out if it is for pathLevel.
func (w *Worker) order(rw http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != contentType {
		http.Error(rw, "an order has the Content-Type "+contentType+": run the same synthetic everywhere", http.StatusUnsupportedMediaType)
		return
	}
	body := json.NewDecoder(r.Body)
	var o order
	if err := body.Decode(&o); err != nil {
		http.Error(rw, fmt.Sprintf("reading the order: %v", err), http.StatusBadRequest)
		return
	}
	plan, err := w.plan(o)
	if err == nil && r.URL.Path == pathLevel && (o.Part.Index < 1 || o.Part.Index >= o.Part.Count) {
		err = fmt.Errorf("part %d of %d: a worker carries a part from 1 to %d", o.Part.Index, o.Part.Count, o.Part.Count-1)
	}
	switch {
	case err != nil:
		http.Error(rw, err.Error(), http.StatusConflict)
	case r.URL.Path == pathCheck:
		rw.WriteHeader(http.StatusNoContent)
	case !w.busy.TryLock():
		http.Error(rw, "it still carries another level", http.StatusServiceUnavailable)
	default:
		defer w.busy.Unlock()
		w.carry(rw, r, body, o, plan)
	}
}

// plan reads and checks the plan of an order.
func (w *Worker) plan(o order) (Plan, error) {
	if o.Protocol != protocolVersion {
		return Plan{}, fmt.Errorf("it speaks version %d of the protocol, shard 0 version %d: run the same synthetic everywhere", protocolVersion, o.Protocol)
	}
	plan, digest, err := w.parse(o)
	switch {
	case err != nil:
		return plan, err
	case digest != o.Workload:
		return plan, errors.New("its workload differs although the plan is the same: give it the same files of conversations, traces and texts as shard 0, and the same synthetic")
	case o.Level.Variant < 0 || o.Level.Variant >= len(plan.Variants) || o.Level.Level < 0 || o.Level.Level >= len(o.Levels):
		return plan, fmt.Errorf("level %d of variant %d is not in the plan", o.Level.Level, o.Level.Variant)
	}
	low, high := slices.Min(plan.Levels), slices.Max(plan.Levels)
	for _, level := range o.Levels {
		if !(level >= low && level <= high) {
			return plan, fmt.Errorf("level %g is not between the plan's lowest and highest level, %g and %g", level, low, high)
		}
	}
	plan.Levels = o.Levels
	return plan, nil
}

// parse returns the plan of an order with its digest. It reads the plan again only if the plan or the
// workload of shard 0 differ from the last ones.
func (w *Worker) parse(o order) (Plan, string, error) {
	w.parsing.Lock()
	defer w.parsing.Unlock()
	if w.digest != "" && w.path == o.Path && w.text == o.Plan && w.digest == o.Workload {
		return w.parsed, w.digest, nil
	}
	plan, err := w.Parse(o.Path, []byte(o.Plan))
	if err != nil {
		return plan, "", err
	}
	w.parsed, w.path, w.text, w.digest = plan, o.Path, o.Plan, plan.digest()
	return plan, w.digest, nil
}

// carry measures the part of an order. It answers until shard 0 has the result.
func (w *Worker) carry(rw http.ResponseWriter, r *http.Request, body *json.Decoder, o order, plan Plan) {
	dir, err := os.MkdirTemp("", "synthetic-worker-")
	if err != nil {
		http.Error(rw, fmt.Sprintf("making a directory for turns: %v", err), http.StatusServiceUnavailable)
		return
	}
	defer os.RemoveAll(dir)
	conn := http.NewResponseController(rw)
	if err := conn.EnableFullDuplex(); err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	ctx, cut := context.WithCancelCause(r.Context())
	defer cut(nil)
	defer context.AfterFunc(w.Stopped, func() { cut(errStopped) })()
	p := &part{commands: make(chan struct{}, 1), answers: make(chan struct{}, 1)}
	var running sync.WaitGroup
	defer running.Wait() // the connection belongs to the server afterwards
	running.Go(func() {
		for {
			var c command
			_ = conn.SetReadDeadline(time.Now().Add(silenceLimit))
			if err := body.Decode(&c); err != nil { // io.EOF after the result
				cut(errSilent)
				return
			}
			p.decide(c)
		}
	})
	var result *runfile.Result
	measured := make(chan struct{})
	running.Go(func() {
		defer close(measured)
		result, err = w.measure(ctx, o, plan, dir, p)
	})
	lines := json.NewEncoder(timedWriter{rw, conn})
	tick := time.NewTicker(lineEvery)
	defer tick.Stop()
	for going := true; going; {
		if lines.Encode(p.answer()) != nil || conn.Flush() != nil {
			cut(errSilent)
			<-measured
			return
		}
		select {
		case <-p.answers:
		case <-tick.C:
		case <-measured:
			going = false
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		_ = errors.Join(lines.Encode(answer{Lost: err.Error()}), conn.Flush())
		return
	}
	w.send(rw, lines, result, filepath.Join(dir, "levels", plan.name(o.Level.cell)+turnsSuffix))
}

// send sends the result and the turns.
func (w *Worker) send(rw http.ResponseWriter, lines *json.Encoder, result *runfile.Result, turns string) {
	size, err := fileSize(turns)
	if err == nil {
		err = lines.Encode(answer{Result: result, TurnBytes: size})
	}
	if err != nil { // it was not sent
		_ = errors.Join(lines.Encode(answer{Lost: fmt.Sprintf("sending its result: %v", err)}), http.NewResponseController(rw).Flush())
		return
	}
	conn := http.NewResponseController(rw)
	if err := errors.Join(appendFile(timedWriter{rw, conn}, turns), conn.Flush()); err != nil {
		w.Options.Logger.Warn("Sending the turns of a level failed", "err", err)
		_ = conn.SetReadDeadline(time.Now()) // ends the reader of commands
		panic(http.ErrAbortHandler)          // so that shard 0 does not take the answer for complete
	}
}

// fileSize returns the bytes of a file, 0 if it does not exist.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// timedWriter gives each write the time of silenceLimit, so that a shard 0 that does not read is lost.
type timedWriter struct {
	io.Writer
	conn *http.ResponseController
}

func (w timedWriter) Write(p []byte) (int, error) {
	if err := w.conn.SetWriteDeadline(time.Now().Add(silenceLimit)); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// measure measures a part. A warm-up has an empty result.
func (w *Worker) measure(ctx context.Context, o order, plan Plan, dir string, p *part) (*runfile.Result, error) {
	s := &sweep{
		Options: w.Options, id: o.Level.Mark, store: &store{dir: dir}, clock: clock{plan: plan, started: time.Now()},
		calibration: calibration{o.Level.Chars, o.Level.Tokens}, current: o.Level.Variant,
		ready: map[int]string{o.Level.Variant: o.Level.Model}, team: p, coming: []int{o.Level.Level},
	}
	s.Plan, s.Part = plan, o.Part
	s.run = s.newRun()
	s.progress.Number, s.progress.Total, s.progress.Cell = o.Level.Number, o.Level.Total, plan.name(o.Level.cell)
	if o.Level.WarmUp {
		return &runfile.Result{}, s.warmUpVariant(ctx, o.Level.Variant)
	}
	rec := &record{Cell: s.progress.Cell}
	if err := os.Mkdir(filepath.Join(dir, "levels"), 0o700); err != nil {
		return nil, fmt.Errorf("making a directory for turns: %w", err)
	}
	if err := s.measure(ctx, o.Level.cell, fullCurve, rec); err != nil {
		return nil, err
	}
	if rec.Result.State == runfile.Interrupted {
		return nil, errors.New(rec.Result.Why)
	}
	return &rec.Result, nil
}

// part is the team of a worker: it tells shard 0 the counts, and follows its commands.
type part struct {
	commands, answers chan struct{} // signal a new command, a new answer

	mu      sync.Mutex
	command command
	next    answer
}

func (p *part) decide(c command) {
	p.mu.Lock()
	p.command = c
	p.mu.Unlock()
	signal(p.commands)
}

// answer returns the next line, and empties it.
func (p *part) answer() answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.next
	p.next = answer{}
	return a
}

func (p *part) tell(a answer) {
	p.mu.Lock()
	p.next = a
	p.mu.Unlock()
	signal(p.answers)
}

func (p *part) decided() command {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.command
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// prepare does nothing: shard 0 prepares the level.
func (p *part) prepare(context.Context, *level) error { return nil }

func (p *part) begin(ctx context.Context, _ *level) (time.Time, *ending) {
	p.tell(answer{Ready: true})
	for p.decided().Begin.IsZero() {
		select {
		case <-p.commands:
		case <-ctx.Done():
			return time.Time{}, &ending{state: runfile.Interrupted, why: "it was cut before the load began"}
		}
	}
	return here(p.decided().Begin)
}

// here returns a time of shard 0, converted to this clock, with the monotonic clock of this process.
// A time far from now means that a clock was set since it was measured.
func here(at time.Time) (time.Time, *ending) {
	now := time.Now()
	away := at.Sub(now)
	if away.Abs() > silenceLimit {
		return now, &ending{state: runfile.Interrupted, why: fmt.Sprintf("the load begins %s from now by its clock: a clock was set, or it learned of it late", away.Round(time.Second))}
	}
	return now.Add(away), nil
}

func (p *part) look(ctx context.Context, _ *level, _ time.Time, seen *levelReport) *ending {
	p.tell(answer{Report: seen})
	c := p.decided()
	if c.End.IsZero() {
		return nil
	}
	at, end := here(c.End)
	if end == nil {
		load.Pause(ctx, time.Until(at))
		end = &ending{state: runfile.EndedEarly}
	}
	return end
}

// conclude does nothing: shard 0 judges.
func (p *part) conclude(context.Context, *level, *ending, *runfile.Result) {}

func (p *part) collect(string, *runfile.Result) error { return nil }
