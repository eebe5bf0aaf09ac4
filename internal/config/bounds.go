package config

import (
	"cmp"
	"fmt"
	"time"

	"synthetic/internal/probe/workload"
)

// bounds checks the keys min and max of the mapping at path. A bound that was
// not written yields to the other one.
func bounds[T cmp.Ordered](b *builder, path string, low, high T) (T, T) {
	lowAt, highAt := path+".min", path+".max"
	if low <= high || !b.fine(lowAt, highAt) {
		return low, high
	}
	switch {
	case !b.has(lowAt):
		return high, high
	case !b.has(highAt):
		return low, low
	}
	b.mistake(lowAt, fmt.Sprint(low), fmt.Sprintf("is above max, which is %v", high), "swap the two, or lower min")
	return low, high
}

// timeouts checks that the parts of a turn fit in the whole. A part that was
// not written yields to a short whole. Wrong ones come back as zero, unknown to
// the checks of thresholds.
func (b *builder) timeouts(path string, in fileTimeouts) workload.Timeouts {
	out := workload.Timeouts{
		FirstToken: b.within(path, "first_token", in.FirstToken, in.Total),
		Stall:      b.within(path, "stall", in.Stall, in.Total),
		Total:      time.Duration(in.Total),
	}
	if !b.fine(path) {
		return workload.Timeouts{}
	}
	return out
}

func (b *builder) within(path, key string, part, total duration) time.Duration {
	at := path + "." + key
	if part <= total || !b.fine(at, path+".total") {
		return time.Duration(part)
	}
	if !b.has(at) {
		return time.Duration(total)
	}
	whole := "total"
	if !b.has(path + ".total") {
		whole = "the default total"
	}
	b.mistake(at, part.String(), fmt.Sprintf("is longer than %s of %v and could never pass", whole, total), fmt.Sprintf("write %v or less, or a longer total", total))
	return time.Duration(part)
}
