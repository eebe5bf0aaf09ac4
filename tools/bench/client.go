//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"synthetic/internal/probe/wire"
)

// startRate is how many streams a client starts per second.
const startRate = 1000

// client is a way to read the streams of a scenario, in a process of its own.
type client struct {
	name string
	// reader is the kind of reader that the client is; "" for a program.
	reader string
	// command returns the process that reads for a duration. dir is an empty directory.
	command func(s scenario, url, dir string, d time.Duration) (*exec.Cmd, error)
	// stops is true if the process has to be stopped, because it would go on.
	stops bool
}

// clients returns the kinds of clients; the first is what the others are compared with.
func clients(program string) []client {
	return []client{
		{name: "plain net/http", reader: "plain", command: reader("plain")},
		{name: "path alone", reader: "path", command: reader("path")},
		{name: "synthetic run", command: sidecar(program), stops: true},
		{name: "synthetic sweep", command: sweep(program)},
	}
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

func sidecar(program string) func(scenario, string, string, time.Duration) (*exec.Cmd, error) {
	return func(s scenario, url, dir string, _ time.Duration) (*exec.Cmd, error) {
		file := filepath.Join(dir, "synthetic.yml")
		text := fmt.Sprintf(`workloads: [{name: w, turns: {min: 1, max: 1}, prompt_tokens: 16, max_output_tokens: %d}]
traffic: [{targets: "*", workload: w, arrival: {process: closed, concurrency: %d}}]
slos: [{name: ttft, sli: ttft, threshold: 20s, objective: 99%%}]
targets:
`, s.tokens, s.perTarget())
		for i := range s.streams / s.perTarget() {
			text += fmt.Sprintf("- {name: t%d, base_url: %q, model: m, connection: reuse}\n", i, url+"/v1")
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		return exec.Command(program, "run", "--log.level=error", "--shutdown.timeout=0s", "--web.listen-address=127.0.0.1:0", "--config.file="+file), nil
	}
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
`, url, s.tokens, s.streams, startRate, max(d-5*time.Second, time.Second))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		return exec.Command(program, "sweep", "--log.level=error", "--plan.file="+file, "--output.dir="+filepath.Join(dir, "out")), nil
	}
}

// cost is the result of one run of a client.
type cost struct {
	// PerToken is the CPU time of the process, with its start and its end, for each token that it was sent, in µs.
	PerToken float64
	// Memory is the peak resident memory of the process for each stream, in kB.
	Memory float64
	lateness
}

// measure runs a client on a core, against a server.
func measure(ctx context.Context, c client, s scenario, srv *process, d time.Duration, core int) (cost, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return cost{}, err
	}
	defer os.RemoveAll(dir)
	cmd, err := c.command(s, srv.url, dir, d)
	if err != nil {
		return cost{}, err
	}
	first, err := srv.tokens(ctx)
	if err != nil {
		return cost{}, err
	}
	p, err := start(cmd, core)
	if err != nil {
		return cost{}, err
	}
	if c.stops {
		time.AfterFunc(d, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	}
	out, err := p.wait(ctx)
	if err != nil {
		return cost{}, fmt.Errorf("%s at %s: %w", c.name, s.name, err)
	}
	last, err := srv.tokens(ctx)
	if err != nil {
		return cost{}, err
	}
	if last-first < int64(s.streams) {
		return cost{}, fmt.Errorf("%s at %s: the server wrote only %d tokens; its log: %s", c.name, s.name, last-first, p.stderr.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	result := cost{
		PerToken: float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / float64(last-first),
		Memory:   float64(usage.Maxrss) * 1.024 / float64(s.streams),
	}
	_ = json.Unmarshal(out, &result.lateness) // only readers print a lateness
	return result, nil
}

// tokens returns how many tokens the server has written.
func (p *process) tokens(ctx context.Context) (int64, error) {
	body, err := get(ctx, p.url+"/tokens")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(body, 10, 64)
}
