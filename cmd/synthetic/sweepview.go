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

// quietFor is how often progress is told where the output is no terminal.
const quietFor = 10 * time.Second

// sweepView shows a sweep: finished levels on stdout, where it is on stderr: a few
// lines that are drawn anew each second on a terminal, a line now and then
// elsewhere. It is used by one goroutine.
type sweepView struct {
	out, progressTo io.Writer
	// width of the terminal in columns; 0 where there is none.
	width int
	drawn int      // lines
	done  []string // levels and how they were judged
	told  time.Time
	// phase and whether its first turns were told.
	phase sweep.Phase
	begun bool
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

// progress redraws; without a terminal it writes a line at each change of phase
// and now and then.
func (v *sweepView) progress(p sweep.Progress) {
	if v.width > 0 {
		v.clear()
		for _, line := range v.screen(p) {
			fmt.Fprintln(v.progressTo, cut(line, v.width-1))
			v.drawn++
		}
	} else if begun := p.Turns > 0; p.Phase != v.phase || begun && !v.begun || time.Since(v.told) >= quietFor {
		v.phase, v.begun, v.told = p.Phase, begun, time.Now()
		fmt.Fprintln(v.progressTo, progressLine(p))
	}
}

// clear removes what was drawn.
func (v *sweepView) clear() {
	if v.drawn > 0 {
		fmt.Fprintf(v.progressTo, "\x1b[%dA\x1b[J", v.drawn)
		v.drawn = 0
	}
}

// shownDone and shownComing levels stand before and after the one under way.
const shownDone, shownComing = 3, 4

// screen is where the sweep is, and while it measures what of it there is.
func (v *sweepView) screen(p sweep.Progress) []string {
	head := fmt.Sprintf("[%d/%d] %s: %s", p.Number, p.Total, p.Cell, p.Phase)
	if p.Measured > 0 && p.Planned > 0 { // no number of conversations
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

// bar is a share as a bar.
func bar(share float64) string {
	const wide = 20
	full := min(max(int(share*wide), 0), wide)
	return strings.Repeat("█", full) + strings.Repeat("░", wide-full)
}

// cut keeps a line to a number of columns, for one that wraps is two.
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

// quantiles are "p50 210ms, p95 480ms, p99 612ms"; "unknown" when there are none.
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
		verdict, _, _ := strings.Cut(r.Verdict.Words(r.Verdict.Lost), " (")
		short += " " + verdict
	}
	v.done = append(v.done, short)
}
