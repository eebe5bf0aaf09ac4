//go:build linux

// Command soak runs the real binary for as long as is wanted against simulated
// deployments that fail by a seeded schedule, reloads and restarts it, kills it,
// fills its disk and crowds its pages, and holds that it neither grows nor
// miscounts nor pages without a cause nor misses one, nor tells a secret.
//
// With -siege it sets hostile upstreams, scrapers and user endpoints on the binary
// instead, one attack after the other, each with many targets and the embedded pager
// on, and prints what it cost: the most memory, CPU, and whether every turn is
// accounted for.
//
// Everything is on loopback and bounded; it ends by itself, or with a report of
// what it saw so far on SIGINT. The exit code is 1 if a check failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	duration    time.Duration
	seed        uint64
	binary, out string

	// Of the siege, in place of the soak.
	siege   bool
	only    string
	targets int
	each    time.Duration
}

func main() {
	// A child whose parent thread ends would be told that its parent died.
	runtime.LockOSThread()
	var o options
	flag.DurationVar(&o.duration, "duration", 20*time.Minute, "how long to run, at least 2m")
	flag.Uint64Var(&o.seed, "seed", 1, "what the schedule of faults is drawn from")
	flag.StringVar(&o.binary, "binary", "bin/synthetic", "the program")
	flag.StringVar(&o.out, "out", "bin/soak", "directory of the report")
	flag.BoolVar(&o.siege, "siege", false, "attack the program in every way, one after the other, in place of the run")
	flag.StringVar(&o.only, "only", "", "part of the name of the attacks to run; empty for all")
	flag.IntVar(&o.targets, "targets", 50, "targets of the program under attack")
	flag.DurationVar(&o.each, "each", 20*time.Second, "how long each attack lasts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch failed, err := run(ctx, o); {
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (failed bool, err error) {
	if o.siege {
		return siege(ctx, o)
	}
	if o.duration < leastDuration {
		return false, fmt.Errorf("-duration=%v: an outage has to last long enough to page; give %v or more", o.duration, leastDuration)
	}
	s, err := prepare(o)
	if err != nil {
		return false, err
	}
	defer s.clean()
	if err := s.play(ctx); err != nil {
		return false, err
	}
	r := s.judge()
	if err := r.write(o.out); err != nil {
		return false, err
	}
	fmt.Printf("\n%s\nthe report is %s/soak.md\n", r.summary(), o.out)
	return r.failed(), nil
}

// errGone says that the program ended by itself.
var errGone = errors.New("the program ended by itself")
