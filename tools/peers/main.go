//go:build linux

// Command peers measures the measurers: it lets sweeps and the tools that are
// installed beside it load one server, which knows when it wrote each token, and
// prints how far their figures are from that.
//
//	python3 -m venv venv && venv/bin/pip install aiperf guidellm
//	venv/bin/python tools/peers/tokenizer.py /tmp/tokenizer
//	go run ./tools/peers --bin=$PWD/venv/bin --tokenizer=/tmp/tokenizer --synthetic=$PWD/bin/synthetic
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
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"synthetic/internal/study/figures"
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
	bin := flag.String("bin", "", "`directory` of the other tools' programs; those that are not there are left out")
	own := flag.String("synthetic", "bin/synthetic", "the `program` of this repository")
	tokenizer := flag.String("tokenizer", "", "`directory` of a tokenizer, which the other tools need")
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
	b := bench{dir: dir, url: "http://" + listener.Addr().String(), bin: *bin, own: *own, tokenizer: *tokenizer, server: server}
	err = b.compare(ctx)
	if ended := errors.Join(web.Close(), <-served); !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

type bench struct {
	dir, url, bin, own, tokenizer string
	server                        *truth
}

// compare prints a row for each load and tool: its figures, and their distance
// from the truth.
func (b bench) compare(ctx context.Context) error {
	fmt.Println("| load | tool | TTFT p50 | p95 | p99 | TPOT p50 | p95 | CPU s | MB |\n| :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, s := range scenarios() {
		for _, t := range b.tools(s) {
			if _, err := os.Stat(t.args[0]); err != nil {
				continue
			}
			b.server.reset()
			cpu, memory, err := b.start(ctx, t)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				fmt.Printf("| %s | %s | failed: %.120s |\n", s, t.name, strings.ReplaceAll(err.Error(), "\n", " "))
				continue
			}
			study, err := figures.Read(t.result)
			if err != nil {
				return err
			}
			l, row, truth := study.Series[0].Levels[0], "", b.server.figures(s.requests)
			for i, m := range []figures.Metric{figures.TTFTP50, figures.TTFTP95, figures.TTFTP99, figures.TPOTP50, figures.TPOTP95} {
				row += fmt.Sprintf(" %.2f (%+.2f) |", l.Figure(m).Value, l.Figure(m).Value-truth[i])
			}
			fmt.Printf("| %s | %s |%s %.1f | %d |\n", s, t.name, row, cpu.Seconds(), memory)
		}
	}
	return nil
}

// tool is a call of a program and where its result lies.
type tool struct {
	name, result string
	args         []string
}

func (b bench) tools(s scenario) []tool {
	out := filepath.Join(b.dir, fmt.Sprintf("%d-%t", s.level, s.rate))
	level, requests := fmt.Sprint(s.level), fmt.Sprint(s.requests)
	aiperf, profile := []string{"--concurrency", level}, "kind=concurrent,streams="+level
	if s.rate {
		aiperf, profile = []string{"--request-rate", level, "--arrival-pattern", "poisson"}, "kind=poisson,rate="+level
	}
	return []tool{
		{"synthetic", out + "-own", []string{b.own, "sweep", "--plan.file=" + b.plan(s, out), "--output.dir=" + out + "-own"}},
		{"AIPerf", out + "-aiperf", append([]string{filepath.Join(b.bin, "aiperf"), "profile", "-m", "truth", "--url", b.url, "--endpoint-type", "chat",
			"--streaming", "--use-server-token-count", "--request-count", requests, "--synthetic-input-tokens-mean", "16", "--output-tokens-mean", fmt.Sprint(tokens),
			"--tokenizer", b.tokenizer, "--artifact-dir", out + "-aiperf", "--ui", "none"}, aiperf...)},
		{"GuideLLM", out + "-guidellm.json", []string{filepath.Join(b.bin, "guidellm"), "run", "--backend", "kind=openai_http,target=" + b.url + ",model=truth",
			"--profile", profile, "--constraint", "kind=max_requests,count=" + requests, "--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=16,output_tokens=%d", tokens),
			"--tokenizer", "kind=huggingface_auto,model=" + b.tokenizer, "--output", "kind=json,path=" + out + "-guidellm.json", "--disable-console"}},
	}
}

// plan writes the plan of a load: every turn is measured, as the others do.
func (b bench) plan(s scenario, out string) string {
	levels := fmt.Sprintf("{concurrency: [%d], start_rate: 0}", s.level)
	if s.rate {
		levels = fmt.Sprintf("{rate: [%d]}", s.level)
	}
	text := fmt.Sprintf("variants: [{name: own, base_url: %s/v1, metrics_urls: []}]\nlevels: %s\nmeasure: {conversations: %d}\nslos: []\n"+
		"workload: {prompt_tokens: 16, max_output_tokens: %d, turns: {min: 1, max: 1}, think_time: {min: 0s, max: 0s}}\n", b.url, levels, s.requests, tokens)
	path := out + ".yml"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "" // which the program will say
	}
	return path
}

// start runs a tool to its end: the CPU that it took, and the most memory of its
// largest process in MB.
func (b bench) start(ctx context.Context, t tool) (cpu time.Duration, memory int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.args[0], t.args[1:]...)
	cmd.Dir = b.dir
	said, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, said[max(0, len(said)-400):])
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10, nil
}
