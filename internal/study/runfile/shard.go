package runfile

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Shard is one of several processes that carry one load together. Everything
// planned is of the whole load, everything measured of this shard alone; verdicts
// are of the whole, for shard 0 judges by what all shards count.
type Shard struct {
	// Index is this one, from 0, of Count.
	Index int `json:"index"`
	Count int `json:"count"`
	// Sweep is the same for the shards of one sweep, and differs between two sweeps
	// of one plan.
	Sweep string `json:"sweep,omitempty"`
	// OffsetSeconds, added to this shard's clock, gives that of shard 0, to within
	// ErrorSeconds either way, in all that it measured.
	OffsetSeconds float64 `json:"offset_seconds"`
	ErrorSeconds  float64 `json:"error_seconds"`
}

// String is "shard 1 of 4"; shards count from 0.
func (s Shard) String() string { return fmt.Sprintf("shard %d of %d", s.Index, s.Count) }

// Clock is what is to be added to this shard's times, and how far that may be off.
func (s Shard) Clock() (offset, within time.Duration) {
	return toDuration(s.OffsetSeconds), toDuration(s.ErrorSeconds)
}

// LostShard is a shard that did not carry its part of a level to the end.
type LostShard struct {
	Index int    `json:"index"`
	Why   string `json:"why"`
}

// LostShards are "shard 2 (no sign of life for 10s), shard 3 (…)".
func LostShards(all []LostShard) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = fmt.Sprintf("shard %d (%s)", s.Index, s.Why)
	}
	return strings.Join(words, ", ")
}

// asked is the shard's part of so many conversations in flight; all of them for
// a nil shard.
func (s *Shard) share(level float64) float64 {
	if s == nil || s.Count <= 1 {
		return level
	}
	return math.Ceil((level - float64(s.Index)) / float64(s.Count))
}
