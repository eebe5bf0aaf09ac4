package baseline

import (
	"math"
	"time"
)

const (
	// historyDays is the length of the history.
	historyDays    = 28
	historyMinutes = historyDays * 24 * 60
	// packed is the resolution of logarithms: 1/2000.
	packed = 2000
	// mostPacked bounds the turns of a minute; larger numbers add no information.
	mostPacked = math.MaxUint8
)

// history holds the minutes of four weeks: the mean logarithm of each minute, its turns, and
// its slow turns.
type history struct {
	log MinuteLog
	// first is the oldest minute ever added.
	first int64
}

// put adds a minute. After the clock was set back, minutes in the future are dropped.
func (h *history) put(minute int64, turns, mean, tail float64) {
	if !(turns >= 1) {
		return
	}
	if h.last() == 0 || minute < h.first {
		*h = history{first: minute}
	}
	// A minute with many turns keeps its shares.
	scale := min(1, mostPacked/turns)
	h.log.Put(minute, uint32(int32(math.Round(min(max(mean, -mostMean), mostMean)*packed))),
		uint32(math.Round(turns*scale)), uint32(math.Round(tail*scale)))
	h.first = max(h.first, minute-historyMinutes+1)
	h.log.Forget(h.first)
}

// last returns the newest minute, or 0.
func (h *history) last() int64 { return h.log.Last() }

// mostMean bounds mean logarithms to what the encoding can hold.
const mostMean = math.MaxInt16 / packed

// each calls do for all minutes, oldest first.
func (h *history) each(do func(minute int64, turns, mean, tail float64)) { h.since(h.first, do) }

// since calls do for the minutes from first on.
func (h *history) since(first int64, do func(minute int64, turns, mean, tail float64)) {
	for m, row := range h.log.From(max(first, h.first)) {
		do(m, float64(row[1]), float64(int32(row[0]))/packed, float64(row[2]))
	}
}

// length returns the period that the history covers.
func (h *history) length() time.Duration {
	if h.last() == 0 {
		return 0
	}
	return time.Duration(h.last()-h.first+1) * time.Minute
}
