//go:build linux

// Command wirebench measures the measuring path: what one event costs, how far
// its timestamp is from the truth, and what an open stream holds in memory.
//
// A server and a client run as two processes on loopback, pinned to one core
// each. The server writes every event with the time, on the clock both
// processes share, at which it called write; the client compares it with the
// time it stamped the event with.
//
//	go run ./tools/wirebench
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "wirebench:", err)
		os.Exit(1)
	}
}

// run acts in one of three roles: the command itself, or one of its children.
func run(args []string) error {
	flags := flag.NewFlagSet("wirebench", flag.ContinueOnError)
	role := flags.String("role", "", "internal: `server` or client, as started by the command itself")
	only := flags.String("scenarios", "", "comma-separated `names` of the scenarios to run; empty for all of: "+strings.Join(names(), ", "))
	modes := flags.String("modes", "nethttp,stream", "comma-separated `clients` to compare")
	runs := flags.Int("runs", 3, "paired `runs` of each; medians are printed")
	measure := flags.Duration("duration", 8*time.Second, "how long each run measures")
	address := flags.String("address", "", "internal: where the server listens")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	switch *role {
	case "server":
		return serve(chosen[0], os.Stdout, os.Stdin)
	case "client":
		return measureClient(chosen[0], *modes, *address, *measure, os.Stdout)
	}
	return compare(chosen, strings.Split(*modes, ","), *runs, *measure, os.Stdout)
}
