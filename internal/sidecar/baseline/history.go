package baseline

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

// history holds the minutes of four weeks: of each the mean logarithm of its values,
// and how many turns it is of, in all and in the tail.
type history struct {
	log MinuteLog
	// first is the oldest minute that was put in.
	first int64
}

// put takes a minute. After a clock that was set back what lies ahead is no past:
// it is dropped.
func (h *history) put(minute int64, turns, mean, tail float64) {
	if !(turns >= 1) {
		return
	}
	if h.last() == 0 || minute < h.first {
		*h = history{first: minute}
	}
	// A minute of many turns keeps its shares.
	scale := min(1, mostPacked/turns)
	h.log.Put(minute, uint32(int32(math.Round(min(max(mean, -mostMean), mostMean)*packed))),
		uint32(math.Round(turns*scale)), uint32(math.Round(tail*scale)))
	h.first = max(h.first, minute-historyMinutes+1)
	h.log.Forget(h.first)
}

// last is the newest minute, 0 if there is none.
func (h *history) last() int64 { return h.log.Last() }

// mostMean bounds mean logarithms: what a packed one can hold.
const mostMean = math.MaxInt16 / packed

// each calls do for the minutes, the oldest first.
func (h *history) each(do func(minute int64, turns, mean, tail float64)) { h.since(h.first, do) }

// since calls do for those from one on.
func (h *history) since(first int64, do func(minute int64, turns, mean, tail float64)) {
	for m, row := range h.log.From(max(first, h.first)) {
		do(m, float64(row[1]), float64(int32(row[0]))/packed, float64(row[2]))
	}
}

// length is how long a time the history covers.
func (h *history) length() time.Duration {
	if h.last() == 0 {
		return 0
	}
	return time.Duration(h.last()-h.first+1) * time.Minute
}
