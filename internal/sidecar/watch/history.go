package watch

import (
	"iter"
	"math"
	"slices"
)

// packed is the resolution of stored logarithms, 1/2000.
const packed = 2000

// history holds the minutes of four weeks, from First on: the number of turns, 0 without any, and their mean logarithm,
// each turn against its class.
type history struct {
	First int64
	Means []int16
	Turns []uint8
}

// sample is what the turns of a minute were.
type sample struct{ turns, mean float64 }

func (h *history) last() int64 { return h.First + int64(len(h.Turns)) - 1 }

// put adds a minute. After the clock was set back, minutes in the future are dropped.
func (h *history) put(minute int64, turns, mean float64) {
	if !(turns >= 1) {
		return
	}
	if len(h.Turns) == 0 || minute < h.First || minute-h.last() > keptDays*dayMinutes {
		*h = history{First: minute}
	}
	if minute-h.First >= (keptDays+1)*dayMinutes { // a day at a time
		h.forget(minute)
	}
	n := int(minute - h.First)
	if n >= cap(h.Turns) { // grow by a day
		more := max(dayMinutes, n+1-len(h.Turns))
		h.Turns, h.Means = slices.Grow(slices.Clip(h.Turns), more), slices.Grow(slices.Clip(h.Means), more)
	}
	for len(h.Turns) < n {
		h.Turns, h.Means = append(h.Turns, 0), append(h.Means, 0)
	}
	h.Turns = append(h.Turns[:n], uint8(min(turns, math.MaxUint8)))
	h.Means = append(h.Means[:n], int16(math.Round(min(max(mean*packed, math.MinInt16), math.MaxInt16))))
}

// forget drops the minutes that are older than four weeks at one.
func (h *history) forget(minute int64) {
	if n := int(minute - keptDays*dayMinutes + 1 - h.First); n > 0 {
		h.Turns, h.Means = slices.Delete(h.Turns, 0, n), slices.Delete(h.Means, 0, n)
		h.First += int64(n)
	}
}

// since returns the minutes with turns from one on.
func (h *history) since(first int64) iter.Seq2[int64, sample] {
	return func(yield func(int64, sample) bool) {
		for i := max(0, first-h.First); i < int64(len(h.Turns)); i++ {
			if h.Turns[i] > 0 && !yield(h.First+i, sample{float64(h.Turns[i]), float64(h.Means[i]) / packed}) {
				return
			}
		}
	}
}
