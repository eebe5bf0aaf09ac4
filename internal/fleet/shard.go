package fleet

import (
	"fmt"
	"strconv"
	"strings"

	"synthetic/internal/probe/workload"
)

// Shard is one of Count processes that share the targets of a configuration, or the load of each level of a plan. The
// zero value has all of them.
type Shard struct {
	Index int `json:"index"` // counts from 0
	Count int `json:"count"` // 0 for a process alone
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// Slots returns how many of total conversations in flight belong to the shard.
func (s Shard) Slots(total int) int {
	if s.Count == 0 {
		return total
	}
	return (total + s.Count - 1 - s.Index) / s.Count
}

// ParseShard parses "0/3", or the name of a StatefulSet's pod and a count: "prober-0/3".
func ParseShard(text string) (Shard, error) {
	name, count, found := strings.Cut(text, "/")
	n, err := strconv.Atoi(count)
	i, ordinal := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	switch {
	case !found || err != nil || ordinal != nil || n < 1 || name[0] == '-':
		return Shard{}, fmt.Errorf("%q is not INDEX/COUNT: write for example 0/3, or $(POD_NAME)/3 in a StatefulSet", text)
	case i < 0 || i >= n:
		return Shard{}, fmt.Errorf("%q is none of %d shards: the first is 0, the last %d", text, n, n-1)
	}
	return Shard{i, n}, nil
}

// owns reports whether a name belongs to the shard. Each name belongs to the shard with the highest
// hash, so that another number of shards moves as few names as possible.
func (s Shard) owns(name string) bool {
	best, highest := 0, uint64(0)
	for i := range s.Count {
		if h := workload.Hash(strconv.Itoa(i), name); h >= highest {
			best, highest = i, h
		}
	}
	return best == s.Index
}
