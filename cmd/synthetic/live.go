package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/status"
	"synthetic/internal/simulate/demo"
	"synthetic/internal/slo"
)

// noWrap and wrap switch a terminal's line wrapping off and on. Wrapped lines would be
// more lines than erase removes.
const noWrap, wrap = "\x1b[?7l", "\x1b[?7h"

// live shows the figures of all jobs. On a terminal it redraws them every second in place;
// otherwise it prints them every 5 seconds.
type live struct {
	w        io.Writer
	terminal bool
	// width returns the number of columns; 0 means no limit.
	width    func() int
	paint    paint
	interval time.Duration

	mu    sync.Mutex
	lines int // number of lines of the figures on the screen
}

func newLive(w io.Writer) *live {
	v := &live{w: w, width: func() int { return 0 }, interval: 5 * time.Second}
	if f := fileOf(w); f != nil && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())) {
		v.terminal, v.interval, v.paint = true, time.Second, os.Getenv("NO_COLOR") == ""
		v.width = func() int {
			columns, _, _ := term.GetSize(int(f.Fd())) // 0 if unknown
			return columns
		}
	}
	return v
}

// follow draws what snapshot returns until ctx is done.
func (v *live) follow(ctx context.Context, snapshot func() status.Snapshot) {
	ticker := time.NewTicker(v.interval)
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

// say prints a text above the figures, where it stays.
func (v *live) say(c colour, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	v.printWrapped(time.Now().Format(time.TimeOnly)+"  ", c, text)
	_, _ = io.WriteString(v.w, "\n")
}

// plan lists the steps of the scenario.
func (v *live) plan(s demo.Scenario) {
	v.printWrapped("", uncoloured, s.About)
	for _, step := range s.Steps {
		v.printWrapped(fmt.Sprintf("  after %-8s ", slo.FormatDuration(step.At)), uncoloured, step.Text)
	}
	_, _ = io.WriteString(v.w, "\n")
}

// printWrapped prints a prefix and a text, whose further lines are indented by the prefix.
func (v *live) printWrapped(prefix string, c colour, text string) {
	lines := wrapLines(text, v.width()-len(prefix))
	_, _ = fmt.Fprintf(v.w, "%s%s\n", prefix, v.paint.coloured(c, strings.Join(lines, "\n"+strings.Repeat(" ", len(prefix)))))
}

// erase removes the figures from the screen until the next draw.
func (v *live) erase() {
	if v.lines > 0 {
		fmt.Fprintf(v.w, "\x1b[%dA\x1b[J", v.lines)
		v.lines = 0
	}
}

func (v *live) draw(s status.Snapshot) {
	var b strings.Builder
	for _, j := range s.Jobs {
		v.paint.job(&b, j)
	}
	text := b.String()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	if v.terminal {
		v.lines = strings.Count(text, "\n")
		text = noWrap + text + wrap
	}
	_, _ = io.WriteString(v.w, text) // the demo continues even if nobody reads its output
}

// job writes the figures of one job. Lines have at most 79 columns, except for an error.
func (p paint) job(b *strings.Builder, j status.Job) {
	r := j.Recent
	fmt.Fprintf(b, "%s/%s  %s, %d in flight, errors %s, prompt tokens cached %s\n",
		j.Target, j.Workload, count(j.Turns, "turn"), j.TurnsInFlight, r.Errors, r.Cached)
	fmt.Fprintf(b, "  %-14s %10s %10s %10s %10s %10s %6s\n", "", "TTFT p50", "p95", "p99", "TPOT p50", "p95", "turns")
	for _, k := range []struct {
		name string
		kind status.Kind
		turn probe.TurnKind
	}{{"first turns", r.First, probe.First}, {"follow-ups", r.Followup, probe.Followup}} {
		fmt.Fprintf(b, "  %-14s %10s %10s %10s %10s %10s %6d\n", k.name,
			k.kind.TTFT.P50, k.kind.TTFT.P95, k.kind.TTFT.P99,
			k.kind.TPOT.P50, k.kind.TPOT.P95, k.kind.Turns)
		if bars, longest := sparkline(j.Points, k.turn); bars != "" {
			fmt.Fprintf(b, "    TTFT of each %s, up to %s\n", bars, longest)
		}
	}
	for _, s := range j.SLOs {
		fmt.Fprintf(b, "  SLO %-13s %s\n", s.Name, p.objective(j, s))
	}
	if j.Last != nil && j.Last.Outcome.Failed() {
		fmt.Fprintf(b, "  last turn      %s: %s\n", p.coloured(bad, string(j.Last.Outcome)), j.Last.Err)
	}
	b.WriteString("\n")
}

// objective says whether the recent turns met an objective. Turns of bursts and turns that a late
// prober may have slowed are not judged.
func (p paint) objective(j status.Job, s status.SLO) string {
	switch {
	case j.Turns == 0:
		return "no turn yet"
	case j.Recent.Turns == 0:
		return "no turn in the last " + slo.FormatDuration(j.Recent.Span.V)
	case s.Judged == 0:
		return fmt.Sprintf("%s, none judged: part of a burst, or the prober was late", count(j.Recent.Turns, "turn"))
	}
	state := p.coloured(bad, "missed")
	if s.Met() {
		state = p.coloured(good, "met")
	}
	return fmt.Sprintf("%s of %s good, objective %s: %s", s.Share, count(s.Judged, "turn"), s.Objective, state)
}
