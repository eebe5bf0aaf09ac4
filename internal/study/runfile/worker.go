package runfile

import (
	"fmt"
	"strings"
)

// Worker is another process that carried a part of a level.
type Worker struct {
	Name string `json:"name"` // host and port
	// OffsetSeconds plus the worker's clock is the clock of the run, within ± ErrorSeconds.
	OffsetSeconds float64 `json:"offset_seconds"`
	ErrorSeconds  float64 `json:"error_seconds"`
}

// LostWorker is a worker that the level lost.
type LostWorker struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// LostWorkers returns "b:9878 (no sign of life for 10s), c:9878 (…)".
func LostWorkers(all []LostWorker) string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = fmt.Sprintf("%s (%s)", w.Name, w.Why)
	}
	return strings.Join(words, ", ")
}
