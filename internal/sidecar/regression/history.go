package regression

import (
	"math"
	"time"
)

const (
	// historyDays is how far back a target's own past is looked at.
	historyDays    = 28
	historyMinutes = historyDays * 24 * 60
	// packed is how finely logarithms are kept: a two-thousandth.
	packed = 2000
	// mostPacked bounds the turns of a minute; more say the same.
	mostPacked = math.MaxUint8
)

// packedMinute is what is kept of a minute: the mean logarithm of its values, and
// how many turns it is of, in the tail and in all.
type packedMinute struct {
	mean        int16
	turns, tail uint8
}

// history holds the minutes of four weeks, a ring by number of the minute. It is
// nil until the first minute.
type history struct {
	minutes []packedMinute
	// first and last are the oldest and the newest minute that were put in.
	first, last int64
}

// put takes a minute. One that is older than the last is dropped.
func (h *history) put(minute int64, turns, mean, tail float64) {
	if turns < 1 || minute <= h.last && h.last > 0 {
		return
	}
	if h.minutes == nil {
		h.minutes = make([]packedMinute, historyMinutes)
		h.first = minute
	}
	for gap := max(h.last+1, minute-historyMinutes); h.last > 0 && gap < minute; gap++ {
		h.minutes[gap%historyMinutes] = packedMinute{}
	}
	// A minute of many turns keeps its shares.
	scale := min(1, mostPacked/turns)
	h.minutes[minute%historyMinutes] = packedMinute{
		mean:  int16(math.Round(min(max(mean, -mostMean), mostMean) * packed)),
		turns: uint8(math.Round(turns * scale)), tail: uint8(math.Round(tail * scale)),
	}
	h.last = minute
	h.first = max(h.first, minute-historyMinutes+1)
}

// mostMean bounds mean logarithms: what a packed one can hold.
const mostMean = math.MaxInt16 / packed

// each calls do for the minutes that had turns, the oldest first.
func (h *history) each(do func(minute int64, turns, mean, tail float64)) {
	if h.minutes == nil {
		return
	}
	for m := h.first; m <= h.last; m++ {
		if p := h.minutes[m%historyMinutes]; p.turns > 0 {
			do(m, float64(p.turns), float64(p.mean)/packed, float64(p.tail))
		}
	}
}

// length is how long a time the history covers.
func (h *history) length() time.Duration {
	if h.minutes == nil {
		return 0
	}
	return time.Duration(h.last-h.first+1) * time.Minute
}
