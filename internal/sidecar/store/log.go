// The turn log never delays a probe: a turn that cannot be written is counted and left out.
package store

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

const (
	// maxQueued is the queue of the writer, which compresses a full file in less than a second.
	maxQueued = 4096
	// writeEvery bounds the turns that a killed process loses.
	writeEvery = 5 * time.Second
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

// Log is a sink that writes turns as they finish.
type Log struct {
	options Options
	lock    *atomicfile.Lock
	queue   chan []byte // lines
	dropped atomic.Uint64
	// lines are not written yet, turns is their number.
	lines []byte
	turns int
	// failing is true after a failed write, full after a turn found the queue full.
	failing bool
	full    atomic.Bool
}

var _ fleet.Sink = (*Log)(nil)

// Open locks the log and checks that it can be written. Call Close, or let Run do it.
func Open(o Options) (*Log, error) {
	lock, err := atomicfile.LockFile(o.Path)
	if err != nil && !atomicfile.IsDiskFull(err) {
		return nil, err
	}
	l := &Log{options: o, lock: lock, queue: make(chan []byte, maxQueued)}
	if to, _, err := l.open(); err == nil {
		_ = to.Close() // nothing is written
	} else if !atomicfile.IsDiskFull(err) {
		lock.Release()
		return nil, err
	}
	return l, nil
}

// Close releases the lock.
func (l *Log) Close() {
	if l != nil {
		l.lock.Release()
	}
}

func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// Add implements fleet.Sink.
func (l *Log) Add(fleet.Job) {}

// Remove implements fleet.Sink.
func (l *Log) Remove(probe.Key) {}

// Observe queues a finished turn if there is room.
func (l *Log) Observe(e probe.Event) {
	r, ended := e.(probe.Result)
	if !ended || r.Sent.IsZero() {
		return
	}
	select {
	case l.queue <- r.AppendLine(nil):
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
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for len(l.queue) > 0 {
				l.add(<-l.queue)
			}
			l.write()
			return nil
		case line := <-l.queue:
			l.add(line)
		case <-tick.C:
			l.write()
		}
	}
}

func (l *Log) add(line []byte) {
	l.lines = append(l.lines, line...)
	if l.turns++; int64(len(l.lines)) >= min(batch, l.options.MaxSize) {
		l.write()
	}
}

// write writes the lines. Probing continues if it fails; the log reports the first error and the recovery.
func (l *Log) write() {
	if l.turns == 0 {
		return
	}
	err := l.appendLines(l.lines)
	switch {
	case err != nil:
		l.dropped.Add(uint64(l.turns))
		if !l.failing {
			l.options.Logger.Error("The turn log cannot be written: turns are missing from it", "err", err)
		}
	case l.failing:
		l.options.Logger.Info("The turn log is written again", "file", l.options.Path)
	}
	l.lines, l.turns, l.failing = l.lines[:0], 0, err != nil
}
