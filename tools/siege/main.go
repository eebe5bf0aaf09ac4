//go:build linux

// Command siege sets hostile upstreams, scrapers and user endpoints on the real
// binary, one attack after the other, each with many targets and the embedded
// pager on, and prints what it cost: the most memory, CPU, and whether every turn
// is accounted for. The exit code is 1 if memory went beyond the bound, a turn is
// not accounted for, or the program ended.
//
// Everything is on loopback and bounded in time.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	binary, only string
	targets      int
	each         time.Duration
	most         int // MB
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/synthetic", "the program")
	flag.StringVar(&o.only, "only", "", "part of the name of the attacks to run; empty for all")
	flag.IntVar(&o.targets, "targets", 50, "targets of the program")
	flag.DurationVar(&o.each, "each", 20*time.Second, "how long each attack lasts")
	flag.IntVar(&o.most, "most", 256, "bound of the resident memory, in MB")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed := false
	fmt.Printf("%d targets, %v each\n\n| attack | largest RSS, MB | CPU, s | turns | of them by outcome | unaccounted |\n|---|---|---|---|---|---|\n", o.targets, o.each)
	for _, a := range attacks() {
		if !strings.Contains(a.name, o.only) || ctx.Err() != nil {
			continue
		}
		seen, err := a.run(ctx, o)
		if err != nil {
			fmt.Fprintf(os.Stderr, "siege: %s: %v\n", a.name, err)
			os.Exit(2)
		}
		fmt.Printf("| %s | %d | %.1f | %d | %s | %d |\n", a.name, seen.megabytes, seen.cpu.Seconds(), seen.started, seen.outcomes, seen.unaccounted())
		failed = failed || seen.megabytes > o.most || seen.unaccounted() != 0
	}
	if failed {
		os.Exit(1)
	}
}
