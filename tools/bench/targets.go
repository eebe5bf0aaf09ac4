//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"synthetic/tools/measured"
)

// installations is the scenario of the table of targets: all installations get the same turns per second, so that the
// table shows what more targets cost.
var installations = scenario{name: "targets", gap: 20 * time.Millisecond, tokens: 100}

const (
	turnsPerSecond = 10
	// scrapes is the number of scrapes in a row whose mean is taken.
	scrapes = 5
)

// installationCosts returns the table of what "synthetic run" costs with few and with many targets.
func (f flags) installationCosts(ctx context.Context, run client) (string, error) {
	srv, err := startServer(installations, f.server)
	if err != nil {
		return "", err
	}
	defer srv.close()
	rows := [][]string{{"targets", "CPU ms per turn", "CPU ms per scrape", "MB"}}
	for _, targets := range []int{1, 100, 1000} {
		var turn, scrape, memory []float64
		for range f.runs {
			x, err := f.installation(ctx, run, srv, targets)
			if err != nil {
				return "", fmt.Errorf("%d targets: %w", targets, err)
			}
			turn, scrape, memory = append(turn, x[0]), append(scrape, x[1]), append(memory, x[2])
		}
		rows = append(rows, []string{fmt.Sprint(targets), spread(turn, 2), spread(scrape, 1), spread(memory, 0)})
	}
	return measured.Table("---", rows...), nil
}

// installation runs a sidecar once, and returns a row of the table.
func (f flags) installation(ctx context.Context, run client, srv *process, targets int) (row [3]float64, err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return row, err
	}
	defer os.RemoveAll(dir)
	traffic := fmt.Sprintf("arrival: {process: poisson, rate: %g}, burst_rate: 0", turnsPerSecond/float64(targets))
	cmd, err := runs(f.program, run.port, dir, srv.url, targets, installations.tokens, traffic)
	if err != nil {
		return row, err
	}
	p, err := start(cmd, f.client)
	if err != nil {
		return row, err
	}
	used, tokens, err := p.window(ctx, client{}, srv, f.duration)
	if err == nil {
		row[0] = 1e3 * used.Seconds() * float64(installations.tokens) / float64(tokens)
		row[1], err = p.scrape(ctx, run.port, used.Seconds()/f.duration.Seconds())
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_, ended := p.wait(ctx)
	row[2] = float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1.024 / 1e3
	return row, errors.Join(err, ended)
}

// scrape returns the CPU time of a scrape in ms, without what the process uses anyway.
func (p *process) scrape(ctx context.Context, port string, share float64) (float64, error) {
	first, err := cpuTime(p.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for range scrapes {
		if _, err := get(ctx, "http://"+port+"/metrics"); err != nil {
			return 0, err
		}
	}
	last, err := cpuTime(p.cmd.Process.Pid)
	return 1e3 * ((last - first).Seconds() - share*time.Since(began).Seconds()) / scrapes, err
}
