//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"synthetic/internal/probe/wire"
)

// startRate is how many streams a client starts per second.
const startRate = 1000

// warmUp is the time from the start of a client to its measurement. All streams have started by then, and nothing of the
// start of a process is measured. coolDown is the time from the measurement to the end of the process.
const warmUp, coolDown = 7 * time.Second, 2 * time.Second

// client is a way to read the streams of a scenario, in a process of its own.
type client struct {
	name string
	// reader is the kind of reader that the client is; "" for a program.
	reader string
	// command returns the process that reads for a duration. dir is an empty directory.
	command func(s scenario, url, dir string, d time.Duration) (*exec.Cmd, error)
	// port is the address of a process that is scraped while it is measured, and stopped then; "" for others.
	port string
	// goal is the largest ratio at 1000 x 20/s for which "make bench-check" passes; 0 means none.
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
		{name: "plain net/http", reader: "plain", command: reader("plain")},
		{name: "path alone", reader: "path", command: reader("path"), goal: 1.10},
		{name: "synthetic run", command: sidecar(program, port), port: port, goal: 1.25},
		{name: "synthetic sweep", command: sweep(program), goal: 1.25},
	}, l.Close()
}

// reader runs this program as a client.
func reader(kind string) func(scenario, string, string, time.Duration) (*exec.Cmd, error) {
	return func(s scenario, url, _ string, d time.Duration) (*exec.Cmd, error) {
		return exec.Command("/proc/self/exe", "-as", kind, "-scenario", s.name, "-url", url, "-for", d.String()), nil
	}
}

// runReader is the other side of reader.
func runReader(kind string, s scenario, url string, d time.Duration) error {
	switch {
	case s.name == inMemory.name && kind == "path":
		return readMemory(path)
	case s.name == inMemory.name:
		return readMemory(plain)
	case kind == "path":
		return follow(s, url, d, wire.New(wire.Options{}), path)
	}
	t := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: s.streams}
	return follow(s, url, d, t, plain)
}

func sidecar(program, port string) func(scenario, string, string, time.Duration) (*exec.Cmd, error) {
	return func(s scenario, url, dir string, _ time.Duration) (*exec.Cmd, error) {
		n := s.perTarget()
		return runs(program, port, dir, url, s.streams/n, s.tokens, fmt.Sprintf("arrival: {process: closed, concurrency: %d}", n))
	}
}

// runs returns a sidecar with a number of targets and their traffic.
func runs(program, port, dir, url string, targets, tokens int, traffic string) (*exec.Cmd, error) {
	file := filepath.Join(dir, "synthetic.yml")
	text := fmt.Sprintf(`workloads: [{name: w, turns: {min: 1, max: 1}, prompt_tokens: 16, max_output_tokens: %d}]
traffic: [{targets: "*", workload: w, %s}]
slos: [{name: ttft, sli: ttft, threshold: 20s, objective: 99%%}]
targets:
`, tokens, traffic)
	for i := range targets {
		text += fmt.Sprintf("- {name: t%d, base_url: %q, model: m, connection: reuse}\n", i, url+"/v1")
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return exec.Command(program, "run", "--log.level=error", "--shutdown.timeout=0s", "--web.listen-address="+port, "--config.file="+file), nil
}

func sweep(program string) func(scenario, string, string, time.Duration) (*exec.Cmd, error) {
	return func(s scenario, url, dir string, d time.Duration) (*exec.Cmd, error) {
		file := filepath.Join(dir, "plan.yml")
		text := fmt.Sprintf(`title: bench
variants: [{name: v, base_url: "%s/v1", model: m, connection: reuse}]
workload: {prompt_tokens: 16, max_output_tokens: %d, turns: {min: 1, max: 1}}
levels: {concurrency: [%d], start_rate: %d}
warm_up: {duration: 5s}
measure: {snapshots: 1, snapshot: %s}
`, url, s.tokens, s.streams, startRate, d-5*time.Second)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		return exec.Command(program, "sweep", "--log.level=error", "--plan.file="+file, "--output.dir="+filepath.Join(dir, "out")), nil
	}
}

// cost is the result of one run of a client.
type cost struct {
	// PerToken is the CPU time of the process for each token that it was sent while it was measured, in µs.
	PerToken float64
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
	cmd, err := c.command(s, srv.url, dir, warmUp+d+coolDown)
	if err != nil {
		return cost{}, err
	}
	p, err := start(cmd, core)
	if err != nil {
		return cost{}, err
	}
	used, tokens, err := p.window(ctx, c, srv, d)
	if err != nil || c.port != "" {
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	out, ended := p.wait(ctx)
	if err = errors.Join(err, ended); err != nil {
		return cost{}, fmt.Errorf("%s at %s: %w", c.name, s.name, err)
	}
	if tokens < int64(s.streams) {
		return cost{}, fmt.Errorf("%s at %s: the server wrote only %d tokens; its log: %s", c.name, s.name, tokens, p.stderr.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	result := cost{
		PerToken: float64(used.Nanoseconds()) / 1e3 / float64(tokens),
		Memory:   float64(usage.Maxrss) * 1.024 / float64(s.streams),
	}
	_ = json.Unmarshal(out, &result.lateness) // only readers print a lateness
	return result, nil
}

// window returns the CPU time of a client, and the tokens that the server wrote meanwhile. A client with a port is scraped
// once in that time.
func (p *process) window(ctx context.Context, c client, srv *process, d time.Duration) (used time.Duration, tokens int64, err error) {
	time.Sleep(warmUp)
	began, first, err := p.reading(ctx, srv)
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(d / 2)
	if c.port != "" {
		if _, err := get(ctx, "http://"+c.port+"/metrics"); err != nil {
			return 0, 0, err
		}
	}
	time.Sleep(d - d/2)
	ended, last, err := p.reading(ctx, srv)
	return ended - began, last - first, err
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
