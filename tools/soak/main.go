//go:build linux

// Command soak runs the real binary against simulated deployments that fail by a seeded
// schedule. It also reloads, restarts and kills the binary, fills its disk and floods its
// pages with requests. It checks that memory and files do not grow, that the counts agree
// with the deployments' counts, that every outage causes a page and nothing else does, and
// that no key appears in any output.
//
// With -siege it instead runs one attack after the other by hostile upstreams and
// scrapers, each with many targets and the embedded pager. It prints the largest
// memory, the CPU time, and whether every turn is accounted for.
//
// With -campaign it stops the binary, takes its CPU time or loads the host while targets fail.
// It compares the time until each page with that of a program that is not stalled.
//
// Everything runs on loopback with bounds on time and size. On SIGINT it ends with a report
// of the run so far. The exit code is 1 if a check failed.
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

type options struct {
	duration    time.Duration
	seed        uint64
	binary, out string
	stalls      bool

	// options of the siege
	siege   bool
	only    string
	targets int
	each    time.Duration // also of the campaign

	// options of the campaign
	campaign bool
	cells    string
}

func main() {
	// Pdeathsig fires when the parent's thread ends, not its process.
	runtime.LockOSThread()
	var o options
	flag.DurationVar(&o.duration, "duration", 20*time.Minute, "how long to run, at least 2m")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the random schedule of faults")
	flag.StringVar(&o.binary, "binary", "bin/synthetic", "the program")
	flag.StringVar(&o.out, "out", "bin/soak", "directory of the report")
	flag.BoolVar(&o.stalls, "stalls", false, "also stop the program again and again, like a host that is migrated or short of CPU")
	flag.BoolVar(&o.siege, "siege", false, "run one attack after the other instead of the schedule")
	flag.StringVar(&o.only, "only", "", "part of the name of the attacks to run; empty for all")
	flag.IntVar(&o.targets, "targets", 50, "targets of the program under attack")
	flag.DurationVar(&o.each, "each", 20*time.Second, "how long each attack, or each fault of the campaign, lasts")
	flag.BoolVar(&o.campaign, "campaign", false, "run each fault of a target under each stall of the program instead of the schedule")
	flag.StringVar(&o.cells, "cells", "*/*", "cells of the campaign to run: patterns of FAULT/STALL, separated by commas")
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
	switch {
	case o.siege:
		return siege(ctx, o)
	case o.campaign:
		return campaign(ctx, o)
	}
	if o.duration < minDuration {
		return false, fmt.Errorf("-duration=%v: an outage has to last long enough to page; give %v or more", o.duration, minDuration)
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

var errGone = errors.New("the program ended by itself")
