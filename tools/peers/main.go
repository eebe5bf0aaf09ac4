//go:build linux

// Command peers measures the accuracy of load testing tools. Sweeps of synthetic and other
// installed tools load a server that knows when it wrote the first and the last token. The command prints the
// distances of their figures from the server's, and can write them into a page.
//
// tools/peers/run installs the tools and starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/tools/measured"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// bench holds the flags, and the server that it measures with.
type bench struct {
	own, tokenizer    string
	serverCore, cores string
	runs              int
	limit             time.Duration
	only              *regexp.Regexp
	page              string

	dir, url string
	missing  []string // names of tools that are not installed
	server   *truth
}

func parse() (b bench, err error) {
	flag.StringVar(&b.own, "synthetic", "synthetic", "the `program` of this repository, its whole path if it is not in PATH")
	flag.StringVar(&b.tokenizer, "tokenizer", "", "`directory` of a tokenizer, which the other tools need")
	flag.StringVar(&b.serverCore, "server-core", "0", "core of the server, as taskset takes it")
	flag.StringVar(&b.cores, "cores", fmt.Sprintf("0-%d", runtime.NumCPU()-1), "cores of the tools, as taskset takes them")
	flag.IntVar(&b.runs, "runs", 5, "how often each tool runs under each load")
	flag.DurationVar(&b.limit, "limit", 2*time.Minute, "how long a tool may run")
	only := flag.String("only", "", "`regexp` of the loads and tools to run, for example '^256 streams/(synthetic|AIPerf)'")
	flag.StringVar(&b.page, "write", "", "`file` that gets the table between its marks")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Measures synthetic's sweeps and those of aiperf, guidellm, inference-perf and vllm that are in PATH.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if b.runs < 1 {
		return b, errors.New("-runs must be at least 1")
	}
	if b.only, err = regexp.Compile(*only); err != nil {
		return b, fmt.Errorf("-only: %w", err)
	}
	return b, nil
}

func run(ctx context.Context) error {
	b, err := parse()
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "peers"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if out, err := exec.Command("taskset", "-apc", b.serverCore, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		return fmt.Errorf("binding the server to core %s: %w: %s", b.serverCore, err, out)
	}
	load := measured.Load()
	rows, err := b.serve(ctx)
	text := measured.Here(fmt.Sprintf("%d runs of each tool, alternating", b.runs), load) + "\n" + table(rows) + "\n"
	text += wins(rows)
	if len(b.missing) > 0 {
		text += "Not installed, so not measured: " + strings.Join(b.missing, ", ") + ".\n\n"
	}
	fmt.Print(text)
	if b.page == "" || err != nil {
		return err
	}
	return measured.Replace(b.page, "peers", text)
}

// serve compares the tools while the server runs.
func (b *bench) serve(ctx context.Context) (rows []*row, err error) {
	listener, err := listenStamped()
	if err != nil {
		return nil, err
	}
	b.server, b.url = newTruth(), "http://"+listener.Addr().String()
	web := &http.Server{Handler: b.server, ConnContext: keepConnection}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	rows, err = b.compare(ctx)
	if ended := errors.Join(web.Close(), <-served); !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return rows, err
}

// compare runs each tool under each load, once in each round.
func (b *bench) compare(ctx context.Context) (rows []*row, err error) {
	for _, s := range scenarios() {
		for _, t := range b.tools(s) {
			if !b.only.MatchString(s.String() + "/" + t.name) {
				continue
			}
			if _, err := exec.LookPath(t.args[0]); err == nil {
				rows = append(rows, &row{load: s, tool: t})
			} else if !slices.Contains(b.missing, t.name) {
				b.missing = append(b.missing, t.name)
			}
		}
	}
	for round := range b.runs {
		for _, r := range rows {
			if r.gaveUp() {
				continue
			}
			began := time.Now()
			err := b.measure(ctx, uint64(round+1), r)
			if ctx.Err() != nil {
				return rows, fmt.Errorf("ended in run %d of %d: %w", round+1, b.runs, ctx.Err())
			}
			fmt.Fprintf(os.Stderr, "run %d, %s, %s: %.1f s, %s\n", round+1, r.load, r.tool.name, time.Since(began).Seconds(), r.last(err))
		}
	}
	return rows, nil
}
