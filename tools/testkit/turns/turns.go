// Package turns reads turn logs.
package turns

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload/trace"
	"synthetic/internal/turnlog"
)

// Turn has the keys of a line that checks use.
type Turn struct {
	At         time.Time     `json:"at"`
	Target     string        `json:"target"`
	Outcome    probe.Outcome `json:"outcome"`
	TTFT       float64       `json:"ttft_seconds"`
	TraceID    string        `json:"trace_id"`
	SpanID     string        `json:"span_id"`
	Level      float64       `json:"concurrency"`
	Repetition int           `json:"repetition"`
	Phase      turnlog.Phase `json:"phase"`
}

// Read returns the turns of plain or compressed files, ordered by time.
func Read(paths ...string) (all []Turn, err error) {
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		plain, closePlain, err := trace.Decompress(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		defer closePlain()
		for lines := json.NewDecoder(plain); ; {
			var t Turn
			if err := lines.Decode(&t); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s, after %d turns: %w", path, len(all), err)
			}
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Turn) int { return a.At.Compare(b.At) })
	return all, nil
}
