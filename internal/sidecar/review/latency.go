package review

import (
	"slices"
	"strconv"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// figures returns the thresholds that people write, from 1 ms to 100 s, ascending. Counts of latencies are kept
// for these figures only, so that a proposed threshold has an exact count. Files hold their positions: only
// append to them.
func figures() []time.Duration {
	out := []time.Duration{1, 2, 3, 4, 5, 6, 8}
	for decade := time.Duration(1); decade <= 1000; decade *= 10 {
		for _, m := range []time.Duration{10, 12, 15, 20, 25, 30, 40, 50, 60, 80} {
			out = append(out, m*decade)
		}
	}
	out = append(out, 100_000)
	for i := range out {
		out[i] *= time.Millisecond
	}
	return out
}

var ladder = figures()

// figureOf returns the position of the smallest figure that is at least d; len(ladder) if there is none.
func figureOf(d time.Duration) int {
	at, _ := slices.BinarySearch(ladder, d)
	return at
}

// Counts are numbers of turns by the smallest figure that their latency does not exceed. The position after
// the last figure counts slower turns, and turns that failed without a latency.
type Counts []uint32

func (c *Counts) add(at, turns int) {
	for len(*c) <= at {
		*c = append(*c, 0)
	}
	(*c)[at] += uint32(turns)
}

func (c *Counts) addAll(o Counts) {
	for at, n := range o {
		c.add(at, int(n))
	}
}

// bad returns the number of turns that were slower than a figure, and of all turns.
func (c Counts) bad(figure int) (bad, all int) {
	for at, n := range c {
		all += int(n)
		if at > figure {
			bad += int(n)
		}
	}
	return bad, all
}

// count adds a turn that an objective for the SLI would judge.
func (c *Counts) count(r probe.Result, sli slo.SLI) {
	o := slo.Objective{SLI: sli, Threshold: time.Second}
	v := r.TTFT
	if sli == slo.TPOT {
		v = r.TPOT
	}
	switch {
	case o.Judge(&r) == slo.NotJudged:
	case v.OK && (sli == slo.TTFT || !r.Outcome.Failed()):
		c.add(figureOf(v.V), 1)
	default:
		c.add(len(ladder), 1)
	}
}

// Percent formats a share for the configuration.
func Percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 6, 64) + "%" }

// FormatThreshold formats a threshold for the configuration: whole seconds, or milliseconds.
func FormatThreshold(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	return strconv.Itoa(int(d/time.Millisecond)) + "ms"
}
