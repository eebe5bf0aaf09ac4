package main

import (
	"fmt"
	"io"
	"time"
)

// replayProgress prints how far a replay is, every so often.
type replayProgress struct {
	out   io.Writer
	every time.Duration
	last  time.Time // of the last line, or the start
}

func newReplayProgress(out io.Writer) *replayProgress {
	return &replayProgress{out: out, every: 10 * time.Second, last: time.Now()}
}

// due reports whether it is time for a line.
func (p *replayProgress) due() bool {
	now := time.Now()
	if now.Sub(p.last) < p.every {
		return false
	}
	p.last = now
	return true
}

// read is called while the log is read for the first time.
func (p *replayProgress) read(turns int, at time.Time) {
	if p.due() {
		fmt.Fprintf(p.out, "synthetic: read %d turns, up to %s\n", turns, at.Format(time.DateOnly))
	}
}

// replayed implements backtest.Progress.
func (p *replayProgress) replayed(at, start, end time.Time) {
	if p.due() {
		fmt.Fprintf(p.out, "synthetic: replayed up to %s, %.0f %% of the time; Ctrl-C ends the replay with the scores so far\n",
			at.Format("2006-01-02 15:04"), 100*float64(at.Sub(start))/float64(end.Sub(start)))
	}
}
