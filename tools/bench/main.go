//go:build linux

// Command bench measures what a token of a stream costs: read by the path of a probe alone, by "synthetic run" and by
// "synthetic sweep", each beside the same turns by plain net/http. It writes the table of docs/background/performance.md,
// or compares the ratios with their goals.
//
// Server and client are processes on a core of their own. Each client writes a turn log, whose times are compared with
// those at which the server wrote. The kinds of clients alternate, so that a slow minute of the machine concerns all of
// them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"synthetic/tools/measured"
)

// flags are the flags of the program. as, url, scenario and log are those of its children.
type flags struct {
	as, url, scenario, log string
	duration               time.Duration
	program                string
	runs                   int
	only                   string
	write                  string
	check                  bool
	server, client         int
}

func main() {
	var f flags
	flag.StringVar(&f.program, "program", "bin/synthetic", "the program to measure")
	flag.DurationVar(&f.duration, "for", 5*time.Second, "how long each client is measured; one that is scraped, at least 15s")
	flag.IntVar(&f.runs, "runs", 5, "how often each client runs in a scenario with goals; in others, at most 3 times")
	flag.StringVar(&f.only, "only", "", "names of scenarios, separated by commas; empty for all")
	flag.StringVar(&f.write, "write", "", "file that gets the table between its marks")
	flag.BoolVar(&f.check, "check", false, "fail if a ratio is above its goal")
	flag.IntVar(&f.server, "server-core", 0, "core of the server")
	flag.IntVar(&f.client, "client-core", 1, "core of the clients")
	flag.StringVar(&f.as, "as", "", "for child processes: server, plain, path or memory")
	flag.StringVar(&f.url, "url", "", "for child processes: address of the server")
	flag.StringVar(&f.log, "log", "", "for child processes: file for the turn log")
	flag.StringVar(&f.scenario, "scenario", "", "for child processes: name of the scenario")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := f.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (f flags) run(ctx context.Context) error {
	if f.as == "" {
		return f.bench(ctx)
	}
	s, err := scenarioNamed(f.scenario)
	if err != nil {
		return err
	}
	switch f.as {
	case "server":
		return serve(s)
	case "memory":
		return readMemory()
	}
	return runReader(f.as, s, f.url, f.log, f.duration)
}

// bench measures all clients in all scenarios, and prints, writes or checks the table.
func (f flags) bench(ctx context.Context) error {
	if f.server == f.client {
		return errors.New("server and clients need cores of their own: give -server-core and -client-core different numbers")
	}
	all := scenarios()
	if f.only != "" {
		all = nil
		for name := range strings.SplitSeq(f.only, ",") {
			s, err := scenarioNamed(name)
			if err != nil {
				return err
			}
			all = append(all, s)
		}
	}
	kinds, err := clients(f.program)
	if err != nil {
		return err
	}
	r := results{}
	load := measured.Load()
	for _, s := range all {
		if s.name == installations.name {
			continue
		}
		if err := f.rounds(ctx, s, kinds, r); err != nil {
			return err
		}
	}
	costs := ""
	if slices.Contains(all, installations) {
		if costs, err = f.installationCosts(ctx, kinds[2].port); err != nil {
			return err
		}
	}
	how := fmt.Sprintf("clients take turns; each runs %d times in rows with goals and %d times in others, for %s (synthetic run: %s)", f.runs, f.runsOf(scenario{}), f.duration, f.timeOf(kinds[2]))
	text := fmt.Sprintf("%s\n%s\n%s\n", measured.Here(how, load), table(r, all, kinds), costs)
	fmt.Print(text)
	if f.write != "" {
		return measured.Replace(f.write, "bench", text)
	}
	if slower := r.missed(kinds); f.check && len(slower) > 0 {
		return errors.New(strings.Join(slower, "\n"))
	}
	return nil
}

// runsOf returns how often each client runs in a scenario.
func (f flags) runsOf(s scenario) int {
	if s.name == judged || s.name == inMemory.name {
		return f.runs
	}
	return min(f.runs, 3)
}

// timeOf returns how long a client is measured. One that is scraped is scraped once in that time.
func (f flags) timeOf(c client) time.Duration {
	if c.port == "" {
		return f.duration
	}
	return max(f.duration, scrapeInterval)
}

// rounds runs each client once in each round.
func (f flags) rounds(ctx context.Context, s scenario, kinds []client, r results) error {
	if s.name == inMemory.name {
		return f.memoryRounds(ctx, kinds, r)
	}
	srv, err := startServer(s, f.server)
	if err != nil {
		return err
	}
	defer srv.close()
	if s.unpinned {
		f.client = allCores
	}
	for round := range f.runsOf(s) {
		for _, c := range kinds {
			x, err := measure(ctx, c, s, srv, f.timeOf(c), f.client)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s, run %d, %s: %.0f tokens/s, %.1f µs/token, late p50 %.0f p99 %.0f µs, %.0f kB/stream\n", s.name, round+1, c.name, x.Speed, x.PerToken, x.P50, x.P99, x.Memory)
			r.add(s, c, x)
		}
	}
	return nil
}
