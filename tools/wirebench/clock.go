//go:build linux

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// sharedClock converts to the clock that all processes of the machine share:
// CLOCK_MONOTONIC, in nanoseconds. Go reads the same clock but hides its zero.
type sharedClock struct {
	base time.Time
	zero int64
}

// newSharedClock finds the zero: of many tries the tightest counts.
func newSharedClock() sharedClock {
	var best sharedClock
	width := time.Hour
	for range 200 {
		before := time.Now()
		var ts unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			continue
		}
		if w := time.Since(before); w < width {
			width = w
			best = sharedClock{base: before.Add(w / 2), zero: ts.Nano()}
		}
	}
	return best
}

func (c sharedClock) of(t time.Time) int64 { return c.zero + int64(t.Sub(c.base)) }
