package main

import (
	"fmt"
	"io"
	"time"

	"synthetic/internal/study/runs"
	"synthetic/internal/study/sweep"
)

// progressInterval is the time between two lines of progress.
const progressInterval = 10 * time.Second

// sweepView prints finished levels on stdout and progress on stderr: a line at each change of
// phase and every progressInterval. Only one goroutine may use it.
type sweepView struct {
	out, progressTo io.Writer
	// The last printed line: its time, phase and whether the phase had turns by then.
	printed  time.Time
	phase    sweep.Phase
	hasTurns bool
}

// progress shows the progress.
func (v *sweepView) progress(p sweep.Progress) {
	if hasTurns := p.Turns > 0; p.Phase != v.phase || hasTurns && !v.hasTurns || time.Since(v.printed) >= progressInterval {
		v.phase, v.hasTurns, v.printed = p.Phase, hasTurns, time.Now()
		fmt.Fprintln(v.progressTo, progressLine(p))
	}
}

func progressLine(p sweep.Progress) string {
	line := fmt.Sprintf("[%d/%d] %s: %s", p.Number, p.Total, p.Cell, p.Phase)
	if p.Phase == sweep.PhaseMeasure && p.Turns > 0 {
		line += fmt.Sprintf(", %d turns, %d failed, %d in flight", p.Turns, p.Failed, p.InFlight)
		line += ", TTFT " + quantiles(p.TTFT) + ", TPOT " + quantiles(p.TPOT)
	}
	return line
}

// quantiles returns "p50 210 ms, p95 480 ms, p99 612 ms", or "unknown" without turns.
func quantiles(q [3]time.Duration) string {
	if q[0] == 0 {
		return "unknown"
	}
	return fmt.Sprintf("p50 %s, p95 %s, p99 %s", threeDigits(q[0]), threeDigits(q[1]), threeDigits(q[2]))
}

func (v *sweepView) finished(r runs.Result, notReached string) {
	fmt.Fprintln(v.out, finishedLine(r, notReached))
}
