package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

// quietFor is how often progress is told where the output is no terminal.
const quietFor = 30 * time.Second

// sweepView shows a sweep: finished levels on stdout, one line of progress on
// stderr. It is used by one goroutine.
type sweepView struct {
	out, progressTo io.Writer
	terminal        bool
	told            time.Time
	phase           sweep.Phase
}

func newSweepView(out, progressTo io.Writer) *sweepView {
	return &sweepView{out: out, progressTo: progressTo, terminal: isTerminal(progressTo)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// progress redraws the line; without a terminal it writes one at each change
// of phase and now and then.
func (v *sweepView) progress(p sweep.Progress) {
	line := progressLine(p)
	if v.terminal {
		fmt.Fprintf(v.progressTo, "\r\x1b[K%s", line)
		return
	}
	if p.Phase != v.phase || time.Since(v.told) >= quietFor {
		v.phase, v.told = p.Phase, time.Now()
		fmt.Fprintln(v.progressTo, line)
	}
}

// clear makes room for other lines.
func (v *sweepView) clear() {
	if v.terminal {
		fmt.Fprint(v.progressTo, "\r\x1b[K")
	}
}

func progressLine(p sweep.Progress) string {
	line := fmt.Sprintf("[%d/%d] %s: %s", p.Number, p.Total, p.Cell, p.Phase)
	if p.Phase == sweep.PhaseMeasure {
		line += fmt.Sprintf(", %d turns, %d failed, %d in flight", p.Turns, p.Failed, p.InFlight)
	}
	if p.Left > 0 {
		line += fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
	}
	return line
}

// finished writes a level that is safe on disk.
func (v *sweepView) finished(r runfile.Result) {
	v.clear()
	fmt.Fprintln(v.out, finishedLine(r))
}

// finishedLine sums a level up. Latencies are left to the report: one number
// for first and later turns would be true of neither.
func finishedLine(r runfile.Result) string {
	var turns, failed, output uint64
	seconds := 0.0
	for _, s := range r.Snapshots {
		seconds += s.Seconds
	}
	for _, b := range r.Blocks() {
		n, bad := b.Ended()
		turns, failed, output = turns+n, failed+bad, output+b.Tokens.Output
	}
	line := fmt.Sprintf("finished %s, level %g, repetition %d: %d turns, %d failed", r.Variant, r.Level, r.Repetition, turns, failed)
	if seconds > 0 {
		line += fmt.Sprintf(", %.2f turns/s, %.0f output tokens/s", float64(turns)/seconds, float64(output)/seconds)
	}
	if r.Verdict != nil {
		line += ", " + verdictWords(*r.Verdict)
	}
	if r.Why != "" {
		line += "; ended early, " + r.Why
	}
	return line
}

// verdictWords says what a level proved, and how it looks where it proved
// nothing.
func verdictWords(v runfile.Verdict) string {
	lost := strings.Join(v.Lost, ", ")
	switch {
	case v.Standing == runfile.Met:
		return "SLOs met"
	case v.Standing == runfile.Missed:
		return "SLOs missed: " + lost
	case v.Met:
		return "SLOs undecided, seemingly met"
	}
	return "SLOs undecided, seemingly missed: " + lost
}
