package runfile

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Shard identifies one of several processes that carry a load together. Plans describe the
// whole load, and measurements describe the shard. Verdicts apply to the whole, because shard 0
// judges the counts of all.
type Shard struct {
	Index int `json:"index"` // counts from 0
	Count int `json:"count"`
	// Sweep is equal for the shards of one sweep, and differs between sweeps of one plan.
	Sweep string `json:"sweep,omitempty"`
	// OffsetSeconds plus this shard's clock is the clock of shard 0, within ±ErrorSeconds.
	OffsetSeconds float64 `json:"offset_seconds"`
	ErrorSeconds  float64 `json:"error_seconds"`
}

// String returns "shard 1 of 4"; shards count from 0.
func (s Shard) String() string { return fmt.Sprintf("shard %d of %d", s.Index, s.Count) }

// Clock returns the offset and its error.
func (s Shard) Clock() (offset, within time.Duration) {
	return toDuration(s.OffsetSeconds), toDuration(s.ErrorSeconds)
}

// LostShard is a shard that did not carry its part of a level to the end.
type LostShard struct {
	Index int    `json:"index"`
	Why   string `json:"why"`
}

// LostShards returns "shard 2 (no sign of life for 10s), shard 3 (…)".
func LostShards(all []LostShard) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = fmt.Sprintf("shard %d (%s)", s.Index, s.Why)
	}
	return strings.Join(words, ", ")
}

// share returns the shard's part of the conversations in flight; all of them for nil.
func (s *Shard) share(level float64) float64 {
	if s == nil || s.Count <= 1 {
		return level
	}
	return math.Ceil((level - float64(s.Index)) / float64(s.Count))
}
