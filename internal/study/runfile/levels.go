package runfile

import (
	"fmt"
	"strings"
)

// LevelKind is the unit of a sweep's levels.
type LevelKind string

const (
	// Concurrency levels are conversations in flight, in a closed loop.
	Concurrency LevelKind = "concurrency"
	// Rate levels are conversation starts per second, in an open loop.
	Rate LevelKind = "rate"
)

// At returns levels with their unit: "concurrency 40", "concurrency 40, 60 and 80", "rate 0.5/s and 1/s".
func (k LevelKind) At(levels ...float64) string {
	words := make([]string, len(levels))
	for i, l := range levels {
		words[i] = k.Number(l)
	}
	last := max(len(words)-1, 0)
	if last == 0 {
		return string(k) + " " + strings.Join(words, "")
	}
	return fmt.Sprintf("%s %s and %s", k, strings.Join(words[:last], ", "), words[last])
}

// Number returns a level after the word for its kind: "40", "0.5/s".
func (k LevelKind) Number(level float64) string {
	if k == Rate {
		return fmt.Sprintf("%g/s", level)
	}
	return fmt.Sprintf("%g", level)
}

// FormatLevels returns "80, 90" for the separator ", ".
func FormatLevels(levels []float64, between string) string {
	words := make([]string, len(levels))
	for i, l := range levels {
		words[i] = fmt.Sprintf("%g", l)
	}
	return strings.Join(words, between)
}
