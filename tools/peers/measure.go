//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// measure runs a tool once and adds its figures, or its failure, to a row.
func (b bench) measure(ctx context.Context, seed uint64, r *row) error {
	b.server.reset(seed)
	if err := os.RemoveAll(r.tool.result); err != nil {
		return err
	}
	usage, err := b.start(ctx, r.tool.args)
	if err == nil {
		err = r.add(b.server, usage)
	}
	if err != nil && ctx.Err() == nil {
		r.failures = append(r.failures, err.Error())
	}
	return err
}

// start runs a tool to its end, and returns what it used with its child processes.
func (b bench) start(ctx context.Context, args []string) (*syscall.Rusage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.limit, fmt.Errorf("not done after %s", b.limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", b.cores}, args...)...)
	cmd.Dir = b.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its child processes
	cmd.WaitDelay = 10 * time.Second                                                     // a process outside the group may keep the output open
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(output[max(0, len(output)-400):]))
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil, errors.New("the system does not say what a process used")
	}
	return usage, nil
}
