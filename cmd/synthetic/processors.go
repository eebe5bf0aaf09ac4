package main

import (
	"context"
	"os"
	"runtime"
	"syscall"
	"time"
)

// The process has one processor below lowShare of its time, and all of them above highShare.
const (
	lowShare, highShare = 0.4, 0.5
	shareInterval       = 5 * time.Second
)

// fitProcessors lets Go use one processor while the process needs less than half of it, and all of them under load or
// while late is not 0. With one, an event wakes no idle thread. It runs until ctx is done, and does nothing if the user
// has set GOMAXPROCS.
func fitProcessors(ctx context.Context, late func() time.Duration) {
	if os.Getenv("GOMAXPROCS") != "" || runtime.GOMAXPROCS(0) == 1 {
		return
	}
	defer runtime.SetDefaultGOMAXPROCS()
	ticker := time.NewTicker(shareInterval)
	defer ticker.Stop()
	single, used, since := false, cpuTime(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		cpu, now := cpuTime(), time.Now()
		share := float64(cpu-used) / float64(now.Sub(since))
		used, since = cpu, now
		if want := wantsOne(single, share, late()); want != single {
			single = want
			if single {
				runtime.GOMAXPROCS(1)
			} else {
				runtime.SetDefaultGOMAXPROCS()
			}
		}
	}
}

// wantsOne returns whether one processor is enough. share is the CPU time of the process as a part of one processor's.
func wantsOne(single bool, share float64, late time.Duration) bool {
	if late > 0 {
		return false
	}
	return share < lowShare || single && share < highShare
}

// cpuTime returns the CPU time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
