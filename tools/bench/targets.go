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

// installations is the scenario of the table of targets, which get the default traffic.
var installations = scenario{name: "targets", streams: 1000, gap: 20 * time.Millisecond, tokens: 16}

const (
	// soaking is how long the measurement of an installation is.
	soaking = 45 * time.Second
	// The cost of a scrape is the mean of several. A sidecar answers scrapes within a second with the same page, so the
	// benchmark waits for apart before each. It waits for settling after each, while garbage is collected.
	scrapes, apart, settling = 5, time.Second, 300 * time.Millisecond
)

// installationCosts returns the table of what "synthetic run" costs with few and with many targets.
func (f flags) installationCosts(ctx context.Context, port string) (string, error) {
	srv, err := startServer(installations, f.server)
	if err != nil {
		return "", err
	}
	defer srv.close()
	rows := [][]string{{"targets", "turns/s", "CPU, % of a core", "CPU ms/turn", "CPU ms/scrape", "MB"}}
	for _, targets := range []int{1, 100, 200, 1000} {
		row, err := f.installation(ctx, port, srv, targets)
		if err != nil {
			return "", fmt.Errorf("%d targets: %w", targets, err)
		}
		fmt.Fprintln(os.Stderr, "targets:", row)
		rows = append(rows, row)
	}
	return fmt.Sprintf("Targets with the default traffic, %s from %s after the start on:\n\n", soaking, installations.warmUp()) + measured.Table("---", rows...), nil
}

// installation runs a sidecar once, and returns a row of the table.
func (f flags) installation(ctx context.Context, port string, srv *process, targets int) (row []string, err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd, err := withTargets(f.program, port, dir, targets, "", installations.target(srv.url))
	if err != nil {
		return nil, err
	}
	p, err := start(cmd, f.client)
	if err != nil {
		return nil, err
	}
	time.Sleep(installations.warmUp())
	w, err := p.window(ctx, "", srv, soaking)
	scrape := 0.0
	if err == nil {
		scrape, err = p.scrape(ctx, port, w.used.Seconds()/soaking.Seconds())
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_, ended := p.wait(ctx)
	if err = errors.Join(err, ended); err != nil {
		return nil, err
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	turns := float64(w.tokens) / float64(installations.tokens)
	for _, x := range []struct {
		digits int
		value  float64
	}{
		{1, turns / soaking.Seconds()}, {1, 100 * w.used.Seconds() / soaking.Seconds()}, {2, 1e3 * w.used.Seconds() / turns},
		{1, scrape}, {0, float64(usage.Maxrss) * 1.024 / 1e3},
	} {
		row = append(row, fmt.Sprintf("%.*f", x.digits, x.value))
	}
	return append([]string{fmt.Sprint(targets)}, row...), nil
}

// scrape returns the CPU time of a scrape in ms, without what the process uses anyway.
func (p *process) scrape(ctx context.Context, port string, share float64) (mean float64, err error) {
	for range scrapes {
		time.Sleep(apart)
		began := time.Now()
		first, err := cpuTime(p.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		if _, err := get(ctx, "http://"+port+"/metrics"); err != nil {
			return 0, err
		}
		time.Sleep(settling)
		last, err := cpuTime(p.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		mean += 1e3 * ((last - first).Seconds() - share*time.Since(began).Seconds()) / scrapes
	}
	return mean, nil
}
