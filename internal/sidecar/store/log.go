// Package turns writes the log of turns of a running sidecar. It never keeps a
// probe waiting: what cannot be written is counted and left out.
package store

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/turnlog"
)

const (
	// maxQueued turns may wait for the writer, which packs a full file in less than
	// a second. maxHeld of them are held back to be put in order, whatever is in
	// flight.
	maxQueued, maxHeld = 4096, 50_000
	// writeEvery is how often what is ripe is written.
	writeEvery = 5 * time.Second
	// late is how long after its deadline a turn may take to be told of.
	late = time.Second
	// batch is about how many bytes are written at once.
	batch = 64 << 10
)

// Options say where the log is kept.
type Options struct {
	// Path is the file that is written to. Beside it lie Keep older ones, packed,
	// with the time of their end in their names; each had MaxSize bytes at most
	// before it was packed.
	Path    string
	MaxSize int64
	Keep    int
	Logger  *slog.Logger
}

// Log is a sink that writes each finished turn. Turns end in another order than
// they were sent in: each is held back for as long as one that was sent before
// it can still be in flight.
type Log struct {
	options Options
	lock    *atomicfile.Lock
	file    file
	queue   chan turnlog.Turn
	dropped atomic.Uint64
	// longest is the longest that a turn of any job may take.
	longest atomic.Int64
	// held are turns in order of when they were sent.
	held []turnlog.Turn
	// failing says that the last write failed, full that the queue was.
	failing bool
	full    atomic.Bool
}

var _ sink.Sink = (*Log)(nil)

// Open locks the log and opens it, as an earlier process left it. Close it, or
// let Run run.
func Open(o Options) (*Log, error) {
	lock, err := atomicfile.LockFile(o.Path)
	if err != nil && !atomicfile.IsDiskFull(err) {
		return nil, err
	}
	l := &Log{options: o, lock: lock, file: file{path: o.Path, max: o.MaxSize, keep: o.Keep}, queue: make(chan turnlog.Turn, maxQueued)}
	if err := l.file.open(); err != nil && !atomicfile.IsDiskFull(err) {
		lock.Release()
		return nil, err
	}
	return l, nil
}

// Close frees what is held.
func (l *Log) Close() {
	if l != nil {
		l.file.close()
		l.lock.Release()
	}
}

// Dropped is how many turns could not be written.
func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// Add implements sink.Sink.
func (l *Log) Add(j sink.Job) {
	for {
		known, own := l.longest.Load(), int64(j.Workload.Timeouts.Total)
		if own <= known || l.longest.CompareAndSwap(known, own) {
			return
		}
	}
}

// Remove implements sink.Sink.
func (l *Log) Remove(probe.Key) {}

// Observe takes a finished turn, if there is room.
func (l *Log) Observe(e probe.Event) {
	r, ended := e.(probe.Result)
	if !ended || r.Sent.IsZero() {
		return
	}
	select {
	case l.queue <- turnlog.FromResult(r):
		l.full.Store(false)
	default:
		l.dropped.Add(1)
		if !l.full.Swap(true) {
			l.options.Logger.Error("The log of turns cannot keep up: turns are left out of it", "file", l.options.Path)
		}
	}
}

// Run writes until ctx is done, and then what is left.
func (l *Log) Run(ctx context.Context) error {
	defer l.Close()
	l.pack()
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			l.drain()
			l.release(len(l.held))
			return nil
		case t := <-l.queue:
			l.hold(t)
		case now := <-tick.C:
			l.drain()
			l.release(l.ripe(now))
		}
	}
}

// drain takes what waits.
func (l *Log) drain() {
	for {
		select {
		case t := <-l.queue:
			l.hold(t)
		default:
			return
		}
	}
}

func (l *Log) hold(t turnlog.Turn) {
	if len(l.held) == maxHeld {
		l.release(maxHeld / 2)
	}
	i := len(l.held)
	for i > 0 && t.At.Before(l.held[i-1].At) {
		i--
	}
	l.held = slices.Insert(l.held, i, t)
}

// ripe is how many turns can be written: no turn that was sent before them can
// be in flight.
func (l *Log) ripe(now time.Time) int {
	before := now.Add(-min(time.Duration(l.longest.Load())+late, turnlog.Slack))
	n, _ := slices.BinarySearchFunc(l.held, before, func(t turnlog.Turn, at time.Time) int { return t.At.Compare(at) })
	return n
}

// release writes the first n turns that are held.
func (l *Log) release(n int) {
	var lines []byte
	waiting := 0
	for i := range l.held[:n] {
		lines = l.held[i].Append(lines)
		waiting++
		if int64(len(lines)) >= min(batch, l.options.MaxSize) || i == n-1 {
			l.write(lines, waiting)
			lines, waiting = lines[:0], 0
		}
	}
	l.held = slices.Delete(l.held, 0, n)
}

// write writes some lines. Probing goes on without them on a full disk, or
// whatever else there is: that is said once, and when it is over.
func (l *Log) write(lines []byte, turns int) {
	rotated, err := l.file.write(lines)
	if err != nil {
		l.dropped.Add(uint64(turns))
		if !l.failing {
			l.options.Logger.Error("The log of turns cannot be written: turns are left out of it", "err", err)
		}
		l.failing = true
		return
	}
	if l.failing {
		l.options.Logger.Info("The log of turns is written again", "file", l.options.Path)
		l.failing = false
	}
	if rotated {
		l.pack()
	}
}

// pack packs and removes older files. One that cannot be packed stays as it is
// until the next time.
func (l *Log) pack() {
	if err := l.file.pack(); err != nil {
		l.options.Logger.Warn("Older parts of the log of turns cannot be packed: they stay as they are", "err", err)
	}
}
