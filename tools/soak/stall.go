//go:build linux

package main

import (
	"context"
	"syscall"
	"time"

	"synthetic/internal/load"
)

// stall is a way to keep the program from running. The zero value does not.
type stall struct {
	name string
	// The program is stopped for the time stop, once, or at the beginning of each period every.
	stop, every time.Duration
	quota       int // percent of each period in which the program may run; 0 for no limit
}

// quotaPeriod is the period in which the kernel gives a control group its quota. A quota is played by
// stopping the program for the rest of each period, which needs no rights.
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
	case s.quota > 0:
		return stall{stop: quotaPeriod * time.Duration(100-s.quota) / 100, every: quotaPeriod}.interrupt(ctx, p)
	case s.stop > 0:
		return s.interrupt(ctx, p)
	}
	<-ctx.Done()
	return nil
}

// interrupt stops and continues the process.
func (s stall) interrupt(ctx context.Context, p *program) error {
	for begin := time.Now(); ; begin = begin.Add(s.every) {
		if err := p.signal(syscall.SIGSTOP); err != nil {
			return err
		}
		whole := load.Pause(ctx, time.Until(begin.Add(s.stop)))
		if err := p.signal(syscall.SIGCONT); err != nil {
			return err
		}
		if s.every == 0 {
			<-ctx.Done()
			return nil
		}
		if !whole || !load.Pause(ctx, time.Until(begin.Add(s.every))) {
			return nil
		}
	}
}
