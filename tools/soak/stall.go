//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// stall is a way to keep the program from running. The zero value does not.
type stall struct {
	name string
	// The program is stopped for the time stop, once, or at the beginning of each period every.
	stop, every time.Duration
	quota       int // percent of a core that the program may use; 0 for no limit
	load        int // processes that keep the processors busy
}

const quotaPeriod = 100 * time.Millisecond

// stalls are the conditions of the campaign. The first is the control.
func stalls() []stall {
	return []stall{
		{name: "none"},
		{name: "1 s once", stop: time.Second},
		{name: "5 s once", stop: 5 * time.Second},
		{name: "60 s once", stop: time.Minute},
		{name: "4 s per 114 s", stop: 4 * time.Second, every: 114 * time.Second},
		{name: "3.3 s per 60 s", stop: 3300 * time.Millisecond, every: time.Minute},
		{name: "130 ms per s", stop: 130 * time.Millisecond, every: time.Second},
		{name: "quota 10 %", quota: 10},
		{name: "quota 5 %", quota: 5},
		{name: "quota 3 %", quota: 3},
		{name: "quota 1 %", quota: 1},
		{name: "host load 24", load: 24},
	}
}

// stopped returns for how long the program was stopped in the time d since the stall began.
func (s stall) stopped(d time.Duration) time.Duration {
	if s.every == 0 {
		return min(s.stop, d)
	}
	return d/s.every*s.stop + min(s.stop, d%s.every)
}

// inflict stalls a process until ctx is done.
func (s stall) inflict(ctx context.Context, p *program) error {
	switch {
	case s.load > 0:
		return burn(ctx, s.load)
	case s.quota > 0:
		return limit(ctx, p, s.quota)
	case s.stop > 0:
		return s.interrupt(ctx, p)
	}
	<-ctx.Done()
	return nil
}

// interrupt stops and continues the process.
func (s stall) interrupt(ctx context.Context, p *program) error {
	for begin := time.Now(); ; begin = begin.Add(s.every) {
		if err := p.signal(syscall.SIGSTOP); err != nil && !errors.Is(err, errGone) { // it may be restarting
			return err
		}
		over := waitUntil(ctx, begin.Add(s.stop))
		if err := p.signal(syscall.SIGCONT); err != nil && !errors.Is(err, errGone) {
			return err
		}
		if s.every == 0 {
			<-ctx.Done()
			return nil
		}
		if over || waitUntil(ctx, begin.Add(s.every)) {
			return nil
		}
	}
}

// waitUntil waits until t. It reports whether ctx was done before.
func waitUntil(ctx context.Context, t time.Time) (done bool) {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(time.Until(t)):
		return false
	}
}

// burn keeps the processors busy. The load is meant for the program, so the targets, which are
// part of this process, get a higher priority. That needs root.
func burn(ctx context.Context, n int) error {
	runtime.LockOSThread() // they end with the thread that started them
	defer runtime.UnlockOSThread()
	for range n {
		cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true} // the priority is set for the process group
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("starting a busy process: %w", err)
		}
		defer func() { _ = cmd.Wait() }() // it is killed
	}
	if syscall.Setpriority(syscall.PRIO_PGRP, 0, -10) == nil {
		defer func() { _ = syscall.Setpriority(syscall.PRIO_PGRP, 0, 0) }()
	}
	<-ctx.Done()
	return nil
}

// The directories of control groups, versions 1 and 2.
const cgroupV1, cgroupV2 = "/sys/fs/cgroup/cpu", "/sys/fs/cgroup"

// quotaMeans returns how limit limits a process.
func quotaMeans() string {
	switch {
	case syscall.Access(filepath.Join(cgroupV1, "cpu.shares"), 2) == nil:
		return "cgroup v1"
	case put(cgroupV2, "cgroup.subtree_control", "+cpu") == nil: // fails in most containers
		return "cgroup v2"
	}
	return "SIGSTOP"
}

// limit limits the process to a share of a core: by a quota of its control group, or by
// stopping it for the rest of each period.
func limit(ctx context.Context, p *program, percent int) error {
	share := quotaPeriod * time.Duration(percent) / 100
	switch quotaMeans() {
	case "cgroup v1":
		return within(ctx, p, cgroupV1, [][2]string{{"cpu.cfs_period_us", micros(quotaPeriod)}, {"cpu.cfs_quota_us", micros(share)}})
	case "cgroup v2":
		return within(ctx, p, cgroupV2, [][2]string{{"cpu.max", micros(share) + " " + micros(quotaPeriod)}})
	}
	return stall{stop: quotaPeriod - share, every: quotaPeriod}.interrupt(ctx, p)
}

// within moves the process into a new control group with the given files, and back when ctx is
// done.
func within(ctx context.Context, p *program, root string, files [][2]string) (err error) {
	pid := strconv.Itoa(p.cmd.Process.Pid)
	group := filepath.Join(root, "synthetic-soak-"+pid)
	if err := os.Mkdir(group, 0o755); err != nil {
		return fmt.Errorf("creating a control group: %w", err)
	}
	defer func() {
		err = errors.Join(err, put(root, "cgroup.procs", pid), os.Remove(group))
	}()
	for _, f := range append(files, [2]string{"cgroup.procs", pid}) {
		if err := put(group, f[0], f[1]); err != nil {
			return fmt.Errorf("limiting the program: %w", err)
		}
	}
	<-ctx.Done()
	return nil
}

// put writes to a file of a control group.
func put(group, name, text string) error {
	f, err := os.OpenFile(filepath.Join(group, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func micros(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
