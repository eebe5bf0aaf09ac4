//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startRate is how many streams a client starts per second.
const startRate = 1000

// coolDown is the time from the measurement of a client to its end.
const coolDown = time.Second

// scrapeInterval is how often the examples of the documentation scrape a sidecar.
const scrapeInterval = 15 * time.Second

// sweepDir is the output of a sweep in the directory of a client.
const sweepDir = "out"

// client is a way to read the streams of a scenario, in a process of its own.
type client struct {
	name string
	// command returns the process that reads for a duration. dir is an empty directory.
	command func(s scenario, url, dir string, d time.Duration) (*exec.Cmd, error)
	// port is the address of a process that is scraped while it is measured, and stopped then; "" for others.
	port string
	// goal is the largest ratio in the judged scenario for which "make bench-check" passes; 0 means none.
	goal float64
}

// clients returns the kinds of clients; the first is what the others are compared with.
func clients(program string) ([]client, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := l.Addr().String()
	return []client{
		{name: "plain net/http", command: self("plain")},
		{name: "path alone", command: self("path"), goal: 1.10},
		{name: "synthetic run", command: sidecar(program, port), port: port, goal: 1.25},
		{name: "synthetic sweep", command: sweep(program), goal: 1.25},
	}, l.Close()
}

// self runs this program as a client.
func self(kind string) func(scenario, string, string, time.Duration) (*exec.Cmd, error) {
	return func(s scenario, url, dir string, d time.Duration) (*exec.Cmd, error) {
		return exec.Command("/proc/self/exe", "-as", kind, "-scenario", s.name, "-url", url, "-log", filepath.Join(dir, turnLog), "-for", d.String()), nil
	}
}

func sidecar(program, port string) func(scenario, string, string, time.Duration) (*exec.Cmd, error) {
	return func(s scenario, url, dir string, _ time.Duration) (*exec.Cmd, error) {
		n := s.perTarget()
		return withTargets(program, port, dir, s.streams/n, fmt.Sprintf(`workloads: [{name: w, turns: {min: 1, max: 1}, prompt_tokens: 16, max_output_tokens: %d}]
traffic: [{targets: "*", workload: w, arrival: {process: closed, concurrency: %d}}]
`, s.tokens, n), s.target(url), "--turns.file="+filepath.Join(dir, turnLog))
	}
}

// withTargets returns a sidecar with a number of targets.
func withTargets(program, port, dir string, targets int, traffic, target string, flags ...string) (*exec.Cmd, error) {
	file := filepath.Join(dir, "synthetic.yml")
	text := traffic + "slos: [{name: ttft, sli: ttft, threshold: 20s, objective: 99%}]\ntargets:\n"
	for i := range targets {
		text += fmt.Sprintf("- {name: t%d, %s}\n", i, target)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	flags = append(flags, "--log.level=error", "--shutdown.timeout=0s", "--web.listen-address="+port, "--config.file="+file)
	return exec.Command(program, append([]string{"run"}, flags...)...), nil
}

// target returns the keys of a target, except its name.
func (s scenario) target(url string) string {
	text := fmt.Sprintf("base_url: %q, model: m, connection: reuse", url+"/v1")
	if s.protocol != "" {
		text += fmt.Sprintf(", http_client: {enable_http2: %t, tls_config: {insecure_skip_verify: true}}", s.protocol == overHTTP2)
	}
	return text
}

func sweep(program string) func(scenario, string, string, time.Duration) (*exec.Cmd, error) {
	return func(s scenario, url, dir string, d time.Duration) (*exec.Cmd, error) {
		file := filepath.Join(dir, "plan.yml")
		text := fmt.Sprintf(`title: bench
variants: [{name: v, %s}]
workload: {prompt_tokens: 16, max_output_tokens: %d, turns: {min: 1, max: 1}}
levels: {concurrency: [%d], start_rate: %d}
cache: {policy: bust}
warm_up: {duration: %dms}
measure: {snapshots: 1, snapshot: %dms}
`, s.target(url), s.tokens, s.streams, startRate, s.warmUp().Milliseconds(), (d - s.warmUp()).Milliseconds())
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		return exec.Command(program, "sweep", "--log.level=error", "--plan.file="+file, "--output.dir="+filepath.Join(dir, sweepDir)), nil
	}
}

// cost is the result of one run of a client.
type cost struct {
	// PerToken is the CPU time of the process for each token that it was sent while it was measured, in µs.
	PerToken float64
	// Allocations is the number of objects that a token allocates; only in memory.
	Allocations float64
	// Speed is how many tokens the server wrote per second.
	Speed float64
	// Memory is the peak resident memory of the process for each stream, in kB.
	Memory float64
	lateness
}

// measure runs a client on a core, against a server, and measures it for a duration.
func measure(ctx context.Context, c client, s scenario, srv *process, d time.Duration, core int) (cost, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return cost{}, err
	}
	defer os.RemoveAll(dir)
	cmd, err := c.command(s, srv.url, dir, s.warmUp()+d+coolDown)
	if err != nil {
		return cost{}, err
	}
	p, err := start(cmd, core)
	if err != nil {
		return cost{}, err
	}
	time.Sleep(s.warmUp())
	w, err := p.window(ctx, c.port, srv, d)
	if err != nil || c.port != "" {
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	_, ended := p.wait(ctx)
	if err = errors.Join(err, ended); err != nil {
		return cost{}, fmt.Errorf("%s at %s: %w", c.name, s.name, err)
	}
	if w.tokens < int64(s.streams) {
		return cost{}, fmt.Errorf("%s at %s: the server wrote only %d tokens; its log: %s", c.name, s.name, w.tokens, p.stderr.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	result := cost{
		PerToken: float64(w.used.Nanoseconds()) / 1e3 / float64(w.tokens),
		Speed:    float64(w.tokens) / d.Seconds(),
		Memory:   float64(usage.Maxrss) * 1.024 / float64(s.streams),
	}
	result.lateness, err = w.lateness(ctx, srv, dir)
	return result, err
}

// window is a time in which a client is measured: its CPU time, and the tokens that the server wrote.
type window struct {
	from, to time.Time
	used     time.Duration
	tokens   int64
}

// window measures a client. One with a port is scraped once in that time.
func (p *process) window(ctx context.Context, port string, srv *process, d time.Duration) (w window, err error) {
	began, first, err := p.reading(ctx, srv)
	if err != nil {
		return w, err
	}
	w.from = time.Now()
	time.Sleep(d / 2)
	if port != "" {
		if _, err := get(ctx, "http://"+port+"/metrics"); err != nil {
			return w, err
		}
	}
	time.Sleep(d - time.Since(w.from))
	w.to = time.Now()
	ended, last, err := p.reading(ctx, srv)
	w.used, w.tokens = ended-began, last-first
	return w, err
}

// lateness compares the turn log of a client that has ended with the times of the server, which forgets them.
func (w window) lateness(ctx context.Context, srv *process, dir string) (lateness, error) {
	text, err := get(ctx, srv.url+"/written")
	if err != nil {
		return lateness{}, err
	}
	var server []written
	if err := json.Unmarshal([]byte(text), &server); err != nil {
		return lateness{}, err
	}
	turns, err := readTurns(dir)
	return late(turns, server, w.from, w.to), err
}

func (p *process) reading(ctx context.Context, srv *process) (used time.Duration, tokens int64, err error) {
	if tokens, err = srv.tokens(ctx); err == nil {
		used, err = cpuTime(p.cmd.Process.Pid)
	}
	return used, tokens, err
}

// cpuTime returns the user and system time of a process; 0 is this one.
func cpuTime(pid int) (time.Duration, error) {
	const ofProcess = 2 // CPUCLOCK_SCHED of Linux
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != 0 {
		clock = ^int32(pid)<<3 | ofProcess
	}
	var t unix.Timespec
	err := unix.ClockGettime(clock, &t)
	return time.Duration(t.Nano()), err
}

// tokens returns how many tokens the server has written.
func (p *process) tokens(ctx context.Context) (int64, error) {
	body, err := get(ctx, p.url+"/tokens")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(body, 10, 64)
}
