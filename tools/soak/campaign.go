//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// firstToken leaves room for targets that wait for a processor: the objective is
	// twice that.
	firstToken = 400 * time.Millisecond
	// warmUp is how long the targets are healthy and the program is not stalled.
	warmUp = 20 * time.Second
	// sound is the number of healthy targets. They are more than two thirds, because a fault
	// that more targets share has one page for all of them.
	sound = 24
)

// campaignFaults are the columns of the campaign's table.
func campaignFaults() []fault {
	return []fault{broken, erring, reset, killed, hanging, slowThrice}
}

// campaign runs the program under each selected stall with targets that fail in each selected
// way, and prints a table of the results. failed is true if a cell failed.
func campaign(ctx context.Context, o options) (failed bool, err error) {
	trials, err := newTrials(o)
	if err != nil {
		return false, err
	}
	if err := runTogether(ctx, trials); err != nil {
		return false, err
	}
	fmt.Printf("\n%s", table(trials, o.each))
	return slices.ContainsFunc(trials, func(t *trial) bool { return len(t.failures(trials[0])) > 0 }), nil
}

// newTrials returns a trial for each stall with a selected cell. The first is the control.
func newTrials(o options) ([]*trial, error) {
	var trials []*trial
	all := map[fault]bool{}
	for _, s := range stalls() {
		t := &trial{stall: s, options: o}
		for _, f := range campaignFaults() {
			selected, err := o.selects(f, s)
			if err != nil {
				return nil, err
			}
			if selected {
				t.faults = append(t.faults, f)
				all[f] = true
			}
		}
		trials = append(trials, t)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("-cells=%q: no cell has such a name; write for example %q", o.cells, "HTTP-500/4 s per 114 s,refused/quota *")
	}
	trials[0].faults = slices.DeleteFunc(campaignFaults(), func(f fault) bool { return !all[f] })
	return slices.DeleteFunc(trials, func(t *trial) bool { return len(t.faults) == 0 }), nil
}

// selects reports whether a cell is to be run.
func (o options) selects(f fault, s stall) (selected bool, err error) {
	for pattern := range strings.SplitSeq(o.cells, ",") {
		match, bad := path.Match(strings.TrimSpace(pattern), string(f)+"/"+s.name)
		if bad != nil {
			return false, fmt.Errorf("-cells: %q: %w", pattern, bad)
		}
		selected = selected || match
	}
	return selected, nil
}

// runTogether runs trials at the same time.
func runTogether(ctx context.Context, trials []*trial) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, t := range trials {
		defer t.clean()
		if err := t.prepare(); err != nil { // in this thread, with which the programs end
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	errs := make([]error, len(trials))
	var running sync.WaitGroup
	for i, t := range trials {
		running.Go(func() {
			if errs[i] = t.run(ctx); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", t.name, errs[i])
				cancel()
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// prepare starts the targets, the program, and what scrapes it and evaluates its rules.
func (t *trial) prepare() (err error) {
	if t.dir, err = os.MkdirTemp("", "campaign-"); err != nil {
		return err
	}
	t.closers = append(t.closers, func() { _ = os.RemoveAll(t.dir) }) // files that cannot be removed do no harm
	if err := t.openTargets(); err != nil {
		return err
	}
	if t.program, err = newProgram(t.binary, t.dir); err != nil {
		return err
	}
	t.closers = append(t.closers, func() { _ = t.program.log.Close() })
	if err := t.configure(campaignRate, soundRate); err != nil {
		return err
	}
	if err := t.program.start("--turns.file=" + t.turns()); err != nil {
		return err
	}
	t.closers = append(t.closers, func() { _ = t.program.leave(syscall.SIGKILL) }) // if the trial was interrupted
	return t.openPager()
}

// turns is the path of the turn log.
func (t *trial) turns() string { return filepath.Join(t.dir, "turns.jsonl") }

// openTargets starts a deployment for each fault, and one that stays healthy.
func (t *trial) openTargets() error {
	for _, f := range append(slices.Clone(t.faults), "sound") {
		d, err := newDeployment(string(f), uint64(len(t.fleet)))
		if err != nil {
			return err
		}
		t.closers = append(t.closers, d.down)
		t.fleet = append(t.fleet, d)
	}
	last := len(t.faults)
	t.fleet, t.sound = t.fleet[:last], t.fleet[last]
	return nil
}

func (t *trial) clean() {
	for _, closer := range slices.Backward(t.closers) {
		closer()
	}
}
