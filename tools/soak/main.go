//go:build linux

// Command soak stops the real binary or takes its CPU time while simulated
// deployments fail. It compares the time until each page with that of a program that is not
// stalled, and the program's counts with those of the deployments.
//
// Everything runs on loopback. The exit code is 1 if a cell of the table failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

type options struct {
	binary, cells string
	each          time.Duration
}

func main() {
	// Pdeathsig fires when the parent's thread ends, not its process.
	runtime.LockOSThread()
	var o options
	flag.StringVar(&o.binary, "binary", "bin/synthetic", "the program")
	flag.DurationVar(&o.each, "each", 7*time.Minute, "how long each fault lasts")
	flag.StringVar(&o.cells, "cells", "*/*", "cells to run: patterns of FAULT/STALL, separated by commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch failed, err := campaign(ctx, o); {
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}
