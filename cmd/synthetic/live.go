package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"synthetic/internal/sidecar/status"
)

// noWrap and wrap switch a terminal's line wrapping: what a narrow one wraps
// would be more lines than erase knows of.
const noWrap, wrap = "\x1b[?7l", "\x1b[?7h"

// live shows the jobs' figures in a terminal: a block that is redrawn in
// place, or, where the output is no terminal, a block now and then.
type live struct {
	w        io.Writer
	terminal bool
	every    time.Duration

	mu    sync.Mutex
	lines int // of the block that stands on the screen
}

func newLive(w io.Writer) *live {
	v := &live{w: w, every: 5 * time.Second}
	if f, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			v.terminal, v.every = true, time.Second
		}
	}
	return v
}

// follow draws what snapshot returns until ctx is done.
func (v *live) follow(ctx context.Context, snapshot func() status.Snapshot) {
	ticker := time.NewTicker(v.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			v.draw(snapshot())
		}
	}
}

// say writes a line that stays, above the block of figures.
func (v *live) say(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	_, _ = fmt.Fprintf(v.w, "%s  %s\n\n", time.Now().Format(time.TimeOnly), line)
}

// erase takes the block off the screen; the next draw puts it back.
func (v *live) erase() {
	if v.lines > 0 {
		fmt.Fprintf(v.w, "\x1b[%dA\x1b[J", v.lines)
		v.lines = 0
	}
}

func (v *live) draw(s status.Snapshot) {
	var b strings.Builder
	for _, j := range s.Jobs {
		writeJob(&b, j)
	}
	text := b.String()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	if v.terminal {
		v.lines = strings.Count(text, "\n")
		text = noWrap + text + wrap
	}
	_, _ = io.WriteString(v.w, text) // what reads it may go; the demo goes on
}

// writeJob writes a job's figures of the last minutes.
func writeJob(b *strings.Builder, j status.Job) {
	r := j.Recent
	fmt.Fprintf(b, "%s/%s  %d turns, %d in flight, errors %s, prompt tokens cached %s\n",
		j.Target, j.Workload, j.Turns, j.TurnsInFlight, r.Errors, r.Cached)
	fmt.Fprintf(b, "  %-14s %10s %10s %10s %10s %10s %6s\n", "", "TTFT p50", "p95", "p99", "TPOT p50", "p95", "turns")
	for _, k := range []struct {
		name string
		kind status.Kind
	}{{"first turns", r.First}, {"follow-ups", r.Followup}} {
		fmt.Fprintf(b, "  %-14s %10s %10s %10s %10s %10s %6d\n", k.name,
			k.kind.TTFT.P50, k.kind.TTFT.P95, k.kind.TTFT.P99,
			k.kind.TPOT.P50, k.kind.TPOT.P95, k.kind.Turns)
	}
	for _, s := range j.SLOs {
		fmt.Fprintf(b, "  SLO %-13s %s of %d turns good, objective %s: %s\n", s.Name, s.Share, s.Judged, s.Objective, state(s))
	}
	if j.Last != nil && j.Last.Outcome.Failed() {
		fmt.Fprintf(b, "  last turn      %s: %s\n", j.Last.Outcome, j.Last.Err)
	}
	b.WriteString("\n")
}

func state(s status.SLO) string {
	switch {
	case s.Judged == 0:
		return "no turn yet"
	case s.Met():
		return "met"
	}
	return "missed"
}
