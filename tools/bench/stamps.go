//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// written is when the server wrote parts of a turn: each time is taken directly before a write, in Unix nanoseconds.
type written struct {
	Span       string
	First, End int64
}

// turn is a line of the turn log that each client writes. The programs' turn logs have these keys.
type turn struct {
	Span     string    `json:"span_id"`
	At       time.Time `json:"at"`
	TTFT     float64   `json:"ttft_seconds"`
	Duration float64   `json:"duration_seconds"`
}

// lateness is how long after the server's times the times of a client are: those of first tokens and of ends.
type lateness struct {
	P50, P99 float64 // µs; 0 without a turn
}

// late compares what a client logged with what the server wrote in a window.
func late(turns []turn, server []written, from, to time.Time) (out lateness) {
	bySpan := map[string]turn{}
	for _, t := range turns {
		bySpan[t.Span] = t
	}
	var times []float64
	for _, w := range server {
		t, ok := bySpan[w.Span]
		add := func(at int64, seconds float64) {
			if ok && at >= from.UnixNano() && at < to.UnixNano() {
				times = append(times, float64(t.At.UnixNano()-at)/1e3+1e6*seconds)
			}
		}
		add(w.First, t.TTFT)
		add(w.End, t.Duration)
	}
	if slices.Sort(times); len(times) > 0 {
		out = lateness{times[len(times)/2], times[len(times)*99/100]}
	}
	return out
}

const turnLog = "turns.jsonl"

// readTurns reads the turn log of a client from its directory; that of a sweep is the compressed one of its level.
func readTurns(dir string) (turns []turn, err error) {
	files, err := filepath.Glob(filepath.Join(dir, sweepDir, "levels", "*.jsonl.zst"))
	if err != nil {
		return nil, err
	}
	file, err := os.Open(slices.Concat(files, []string{filepath.Join(dir, turnLog)})[0])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var log io.Reader = file
	if len(files) > 0 {
		if log, err = zstd.NewReader(file); err != nil {
			return nil, err
		}
	}
	for lines := json.NewDecoder(log); ; {
		var t turn
		if err := lines.Decode(&t); errors.Is(err, io.EOF) {
			return turns, nil
		} else if err != nil {
			return turns, err
		}
		turns = append(turns, t)
	}
}
