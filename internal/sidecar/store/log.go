// The turn log never delays a probe: a turn that cannot be written is counted and left out.
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
	// maxQueued is the queue of the writer, which compresses a full file in less than a second.
	// maxHeld bounds the turns that wait to be written in order.
	maxQueued, maxHeld = 4096, 50_000
	writeEvery         = 5 * time.Second
	// maxHold and writeEvery bound the turns that a killed process loses: those of the last 30 s.
	maxHold = 25 * time.Second
	// late is the delay after its deadline within which a turn is reported.
	late = time.Second
	// batch is the approximate size of one write, in bytes.
	batch = 64 << 10
)

// Options configure a Log.
type Options struct {
	// Path is the current file. Keep older files lie beside it, compressed, with the time of
	// their end in their names. Each had at most MaxSize bytes before compression.
	Path    string
	MaxSize int64
	Keep    int
	Logger  *slog.Logger
}

// Log is a sink that writes finished turns ordered by the time of sending. It holds a turn back
// while an earlier one may still be in flight.
type Log struct {
	options Options
	lock    *atomicfile.Lock
	file    file
	queue   chan turnlog.Turn
	dropped atomic.Uint64
	// longest is the longest timeout of a turn of any job.
	longest atomic.Int64
	// held are waiting turns, ordered by the time of sending.
	held []turnlog.Turn
	// failing is true after a failed write, full after a turn found the queue full.
	failing bool
	full    atomic.Bool
}

var _ sink.Sink = (*Log)(nil)

// Open locks and opens the log. Call Close, or let Run do it.
func Open(o Options) (*Log, error) {
	lock, err := atomicfile.LockFile(o.Path)
	if err != nil && !atomicfile.IsDiskFull(err) {
		return nil, err
	}
	l := &Log{options: o, lock: lock, file: file{path: o.Path, max: o.MaxSize, keep: o.Keep}, queue: make(chan turnlog.Turn, maxQueued)}
	l.file.continueNames()
	if err := l.file.open(); err != nil && !atomicfile.IsDiskFull(err) {
		lock.Release()
		return nil, err
	}
	return l, nil
}

// Close releases the lock and the file.
func (l *Log) Close() {
	if l != nil {
		l.file.close()
		l.lock.Release()
	}
}

func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// Add implements sink.Sink.
func (l *Log) Add(j sink.Job) {
	for {
		longest, timeout := l.longest.Load(), int64(j.Workload.Timeouts.Total)
		if timeout <= longest || l.longest.CompareAndSwap(longest, timeout) {
			return
		}
	}
}

// Remove implements sink.Sink.
func (l *Log) Remove(probe.Key) {}

// Observe queues a finished turn if there is room.
func (l *Log) Observe(e probe.Event) {
	r, ended := e.(probe.Result)
	if !ended || r.Sent.IsZero() {
		return
	}
	select {
	case l.queue <- turnlog.FromResult(&r):
		l.full.Store(false)
	default:
		l.dropped.Add(1)
		if !l.full.Swap(true) {
			l.options.Logger.Error("The turn log cannot keep up: turns are missing from it", "file", l.options.Path)
		}
	}
}

// Run writes until ctx is done, and then the rest.
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
			l.release(l.writable(now))
		}
	}
}

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

// writable returns how many turns can be written: those that ended long ago, or before which no turn can be in
// flight. Readers sort lines within turnlog.Slack, so only turns that last longer are held for more than maxHold.
func (l *Log) writable(now time.Time) int {
	longest := time.Duration(l.longest.Load()) + late
	before := now.Add(-min(longest, max(maxHold, longest-turnlog.Slack)))
	n, _ := slices.BinarySearchFunc(l.held, before, func(t turnlog.Turn, at time.Time) int { return t.At.Compare(at) })
	return n
}

// release writes the first n held turns.
func (l *Log) release(n int) {
	var lines []byte
	waiting := 0
	for i := range l.held[:n] {
		if l.file.endsBefore(l.held[i].At) {
			l.write(lines, waiting)
			lines, waiting = lines[:0], 0
			l.file.ended = true
		}
		lines = l.held[i].Append(lines)
		waiting++
		if int64(len(lines)) >= min(batch, l.options.MaxSize) || i == n-1 {
			l.write(lines, waiting)
			lines, waiting = lines[:0], 0
		}
	}
	l.held = slices.Delete(l.held, 0, n)
}

// write writes lines. Probing continues if it fails; the log reports the first error and the
// recovery.
func (l *Log) write(lines []byte, turns int) {
	rotated, err := l.file.write(lines)
	if err != nil {
		l.dropped.Add(uint64(turns))
		if !l.failing {
			l.options.Logger.Error("The turn log cannot be written: turns are missing from it", "err", err)
		}
		l.failing = true
		return
	}
	if l.failing {
		l.options.Logger.Info("The turn log is written again", "file", l.options.Path)
		l.failing = false
	}
	if rotated {
		l.pack()
	}
}

// pack compresses and removes older files. A file that cannot be compressed is tried again next
// time.
func (l *Log) pack() {
	if err := l.file.pack(); err != nil {
		l.options.Logger.Warn("Older files of the turn log cannot be compressed or removed", "err", err)
	}
}
