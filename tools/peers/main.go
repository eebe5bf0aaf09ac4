//go:build linux

// Command peers measures the accuracy of load testing tools. Sweeps of synthetic and other
// installed tools load a server that knows when it wrote each token. The command prints the
// distances of their figures from the server's.
//
// docs/background/other-tools.md lists the tools to install.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// scenario is a load: conversations in flight or, with rate, starts per second.
type scenario struct {
	level    int
	rate     bool
	requests int
}

func scenarios() []scenario {
	return []scenario{{1, false, 16}, {64, false, 640}, {256, false, 1280}, {20, true, 600}}
}

func (s scenario) String() string {
	if s.rate {
		return fmt.Sprintf("Poisson, %d/s", s.level)
	}
	if s.level == 1 {
		return "1 stream"
	}
	return fmt.Sprintf("%d streams", s.level)
}

func run(ctx context.Context) error {
	synthetic := flag.String("synthetic", "synthetic", "the `program` of this repository, its whole path if it is not in PATH")
	tokenizer := flag.String("tokenizer", "", "`directory` of a tokenizer, which the other tools need")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Measures synthetic's sweeps and those of aiperf, guidellm, inference-perf and vllm that are in PATH.")
		flag.PrintDefaults()
	}
	flag.Parse()
	server := newTruth()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: server}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{dir: dir, url: "http://" + listener.Addr().String(), own: *synthetic, tokenizer: *tokenizer, server: server}
	err = b.compare(ctx)
	if ended := errors.Join(web.Close(), <-served); !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

type bench struct {
	dir, url, own, tokenizer string
	server                   *truth
}

// compare prints the figures of each tool under each load, and their distance from the
// truth.
func (b bench) compare(ctx context.Context) error {
	fmt.Println("| load | tool | TTFT p50 | p95 | p99 | TPOT p50 | p95 | CPU s | MB |\n| :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, s := range scenarios() {
		for _, t := range b.tools(s) {
			if _, err := exec.LookPath(t.args[0]); err != nil {
				continue
			}
			row, err := b.measure(ctx, s, t)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				row = fmt.Sprintf(" failed: %.400s |", strings.ReplaceAll(err.Error(), "\n", " "))
			}
			fmt.Printf("| %s | %s |%s\n", s, t.name, row)
		}
	}
	return nil
}

// measure returns the row of one tool under one load.
func (b bench) measure(ctx context.Context, s scenario, t tool) (row string, err error) {
	b.server.reset()
	cpu, memory, err := b.start(ctx, t)
	if err != nil {
		return "", err
	}
	measured, err := t.read(t.result)
	if err != nil {
		return "", err
	}
	for i, truth := range b.server.figures(s.requests) {
		row += fmt.Sprintf(" %.2f (%+.2f) |", measured[i], measured[i]-truth)
	}
	return fmt.Sprintf("%s %.1f | %d |", row, cpu.Seconds(), memory), nil
}

// start runs a tool. It returns the CPU time, and the largest memory of one of its
// processes in MB.
func (b bench) start(ctx context.Context, t tool) (cpu time.Duration, memory int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.args[0], t.args[1:]...)
	cmd.Dir = b.dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, output[max(0, len(output)-400):])
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10, nil
}
