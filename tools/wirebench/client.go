//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// warmUp passes between the first event of every stream and the measurement.
const warmUp = 2 * time.Second

// figures are what one run of a client measured.
type figures struct {
	Events          int
	CPUMicros       float64 // per event, user and system
	P50, P99, Max   float64 // timestamp error, microseconds
	KilobytesStream float64 // resident memory per stream, 1000 bytes
}

// recorder takes timestamp errors of all streams without allocating.
type recorder struct {
	clock sharedClock
	// from and to bound the arrivals that count, in the shared clock's
	// nanoseconds; 0 is not set yet. An event may be noted after its arrival.
	from, to atomic.Int64
	started  atomic.Int64 // streams that have had an event
	next     atomic.Int64
	errors   []int32 // nanoseconds
}

func (r *recorder) noter() noter {
	seen := false
	return func(content []byte, at time.Time) {
		if !seen {
			seen = true
			r.started.Add(1)
		}
		sent, ok := stampOf(content)
		arrived := r.clock.of(at)
		if !ok || !r.counts(arrived) {
			return
		}
		if i := r.next.Add(1) - 1; i < int64(len(r.errors)) {
			r.errors[i] = int32(min(arrived-sent, 1<<31-1))
		}
	}
}

// counts reports whether an arrival lies within the measurement.
func (r *recorder) counts(arrived int64) bool {
	from, to := r.from.Load(), r.to.Load()
	return from != 0 && arrived >= from && (to == 0 || arrived < to)
}

// measureClient opens the streams and prints its figures as JSON.
func measureClient(s scenario, name, address string, d time.Duration, out io.Writer) error {
	m := newMode(name)
	if m == nil {
		return fmt.Errorf("unknown mode %q: want nethttp, stream or probe", name)
	}
	capacity := int(2 * s.rate * float64(s.streams) * (d + time.Second).Seconds())
	r := &recorder{clock: newSharedClock(), errors: make([]int32, capacity)}
	for i := range r.errors { // resident from the start: it is no stream's
		r.errors[i] = 1
	}
	before := resident()
	ctx, cancel := context.WithCancel(context.Background())
	var streams sync.WaitGroup
	stop := func() { cancel(); streams.Wait() }
	defer stop()
	failed := make(chan error, s.streams)
	for range s.streams {
		streams.Go(func() { failed <- m(ctx, "http://"+address+"/v1/chat/completions", r.noter()) })
	}
	if err := r.await(s.streams, failed); err != nil {
		return err
	}
	cpu := r.measure(d)
	f := figures{KilobytesStream: float64(resident()-before) / 1000 / float64(s.streams)}
	stop() // before the errors are sorted: a stream may be noting one yet
	f.Events = min(int(r.next.Load()), len(r.errors))
	f.CPUMicros = float64(cpu.Nanoseconds()) / 1e3 / float64(f.Events)
	f.P50, f.P99, f.Max = quantiles(r.errors[:f.Events])
	return json.NewEncoder(out).Encode(f)
}

// await waits until every stream has had an event.
func (r *recorder) await(streams int, failed <-chan error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(15 * time.Second)
	for r.started.Load() < int64(streams) {
		select {
		case err := <-failed:
			return fmt.Errorf("a stream ended early: %w", err)
		case <-timeout:
			return fmt.Errorf("only %d of %d streams had an event in time", r.started.Load(), streams)
		case <-tick.C:
		}
	}
	time.Sleep(warmUp)
	return nil
}

// measure lets the arrivals of the next d count, and returns the CPU time that
// the process used meanwhile.
func (r *recorder) measure(d time.Duration) time.Duration {
	cpu := cpuTime()
	r.from.Store(r.clock.of(time.Now()))
	time.Sleep(d)
	r.to.Store(r.clock.of(time.Now()))
	return cpuTime() - cpu
}

// cpuTime is what this process has used of its core, user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is the resident memory of this process in bytes.
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	fmt.Sscan(string(b), &size, &pages)
	return pages * int64(os.Getpagesize())
}
