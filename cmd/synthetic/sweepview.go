package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

// progressInterval is the time between two lines of progress if stderr is not a terminal.
const progressInterval = 10 * time.Second

// sweepView prints finished levels on stdout and progress on stderr. A terminal shows
// progress in a few lines that are redrawn; otherwise progress is a line at each change of
// phase and every progressInterval. Only one goroutine may use it.
type sweepView struct {
	out, progressTo io.Writer
	// width is the width of the terminal in columns, 0 without a terminal.
	width int
	drawn int      // number of lines of progress on the terminal
	done  []string // finished levels with their verdicts
	// The last printed line without a terminal: its time, phase and whether the phase had
	// turns by then.
	printed  time.Time
	phase    sweep.Phase
	hasTurns bool
}

func newSweepView(e env) *sweepView {
	v := &sweepView{out: e.stdout, progressTo: e.stderr}
	if f, ok := e.stderr.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			v.width = width
		}
	}
	return v
}

// progress shows the progress.
func (v *sweepView) progress(p sweep.Progress) {
	if v.width > 0 {
		v.clear()
		for _, line := range v.screen(p) {
			fmt.Fprintln(v.progressTo, cut(line, v.width-1))
			v.drawn++
		}
	} else if hasTurns := p.Turns > 0; p.Phase != v.phase || hasTurns && !v.hasTurns || time.Since(v.printed) >= progressInterval {
		v.phase, v.hasTurns, v.printed = p.Phase, hasTurns, time.Now()
		fmt.Fprintln(v.progressTo, progressLine(p))
	}
}

// clear removes the progress from the terminal.
func (v *sweepView) clear() {
	if v.drawn > 0 {
		fmt.Fprintf(v.progressTo, "\x1b[%dA\x1b[J", v.drawn)
		v.drawn = 0
	}
}

// shownDone and shownComing are how many levels are shown before and after the current one.
const shownDone, shownComing = 3, 4

// screen returns the lines of progress for a terminal.
func (v *sweepView) screen(p sweep.Progress) []string {
	head := fmt.Sprintf("[%d/%d] %s: %s", p.Number, p.Total, p.Cell, p.Phase)
	if p.Measured > 0 && p.Planned > 0 { // not limited by a number of conversations
		head += fmt.Sprintf(" %s %s of %s", bar(p.Measured.Seconds()/p.Planned.Seconds()), p.Measured.Round(time.Second), p.Planned)
	}
	levels := append([]string{}, v.done[max(len(v.done)-shownDone, 0):]...)
	levels = append(levels, "▶ "+p.Cell)
	levels = append(levels, p.Coming[:min(len(p.Coming), shownComing)]...)
	if more := len(p.Coming) - shownComing; more > 0 {
		levels = append(levels, fmt.Sprintf("%d more", more))
	}
	lines := []string{head + left(p), "  levels  " + strings.Join(levels, " · ")}
	if p.Measured == 0 {
		return lines
	}
	turns := fmt.Sprintf("  turns   %d ended, %d failed, %d in flight", p.Turns, p.Failed, p.InFlight)
	s := p.Measured.Seconds()
	turns += fmt.Sprintf(" · %.1f turns/s · %.0f output tokens/s", float64(p.Turns)/s, float64(p.OutputTokens)/s)
	return append(lines, turns, "  TTFT    "+quantiles(p.TTFT), "  TPOT    "+quantiles(p.TPOT))
}

// bar draws a share from 0 to 1.
func bar(share float64) string {
	const width = 20
	full := min(max(int(share*width), 0), width)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// cut shortens a line to the given columns. clear could not remove a line that wraps.
func cut(line string, columns int) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:max(columns-1, 0)]) + "…"
}

func progressLine(p sweep.Progress) string {
	line := fmt.Sprintf("[%d/%d] %s: %s", p.Number, p.Total, p.Cell, p.Phase)
	if p.Phase == sweep.PhaseMeasure && p.Turns > 0 {
		line += fmt.Sprintf(", %d turns, %d failed, %d in flight", p.Turns, p.Failed, p.InFlight)
		line += ", TTFT " + quantiles(p.TTFT) + ", TPOT " + quantiles(p.TPOT)
	}
	return line + left(p)
}

func left(p sweep.Progress) string {
	if p.Left <= 0 {
		return ""
	}
	return fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
}

// quantiles returns "p50 210ms, p95 480ms, p99 612ms", or "unknown" without turns.
func quantiles(q [3]time.Duration) string {
	if q[0] == 0 {
		return "unknown"
	}
	digits := func(d time.Duration) time.Duration {
		if d >= 100*time.Millisecond {
			return d.Round(time.Millisecond)
		}
		return d.Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p95 %s, p99 %s", digits(q[0]), digits(q[1]), digits(q[2]))
}

func (v *sweepView) finished(r runfile.Result, notReached string) {
	v.clear()
	fmt.Fprintln(v.out, finishedLine(r, notReached))
	short := fmt.Sprintf("%s %g", r.Variant, r.Level)
	if r.Verdict != nil && notReached == "" {
		verdict, _, _ := strings.Cut(r.Verdict.Words(nil), " (")
		short += " " + verdict
	}
	v.done = append(v.done, short)
}
