package baseline

import (
	"math"
	"slices"
	"time"
)

// Limits are chosen by replaying the target's own past: a window's limit is the value that the
// past exceeded at the accepted rate. Faults only raise a level, so the deviations below the
// baseline show how much the level moves by itself: the past is replayed upside down. Short
// windows are also replayed the right way up, without longer rises, because bursts have no
// mirror image.

const (
	// Each block of blockMinutes gives one extreme.
	blockMinutes = 6 * 60
	// leastBlocks is the smallest number of blocks for a calibration: two days.
	leastBlocks = 8
	// burstMinutes is the longest window that is searched for bursts. A rise that lifts the mean
	// of lastingMinutes above lasting, a log ratio, is a fault: it and the minutes around it are
	// left out.
	burstMinutes            = 30
	lastingMinutes, lasting = 45, 0.17
	// independent is the number of windows that see separate events. The accepted rate is
	// divided by it.
	independent = 6
)

// tailOf describes extremes: a block exceeds x with a probability of about
// e^(−(x−location)/scale).
type tailOf struct{ location, scale float64 }

// gumbel fits a Gumbel distribution to the extremes of blocks by L-moments (Hosking 1990), and
// widens it for the uncertainty of few blocks.
func gumbel(extremes []float64) tailOf {
	slices.Sort(extremes)
	n := float64(len(extremes))
	b0, b1 := 0.0, 0.0
	for i, x := range extremes {
		b0 += x / n
		b1 += x * float64(i) / (n - 1) / n
	}
	scale := max(0, 2*b1-b0) / math.Ln2
	t := tailOf{b0 - 0.5772*scale, scale}
	t.scale *= 1 + 2/math.Sqrt(n)
	return t
}

// beyond returns the value that a block exceeds with probability chance.
func (t tailOf) beyond(chance float64) float64 { return t.location + t.scale*math.Log(1/chance) }

// chance returns the probability that a block exceeds x.
func (t tailOf) chance(x float64) float64 {
	if t.scale == 0 {
		return 0
	}
	return min(1, math.Exp(-(x-t.location)/t.scale))
}

type past struct {
	// wander describes the squares of the extremes below the baseline, burst the extremes above
	// it in short windows. sd is the standard deviation of the window's mean, from values
	// below.
	wander, burst tailOf
	sd            float64
}

// limit returns the value that the window exceeds with probability chance in a block.
func (p past) limit(chance float64) float64 {
	return math.Sqrt(max(0, p.wander.beyond(chance), p.burst.beyond(chance)))
}

// chance returns the probability that a block exceeds limit without a fault.
func (p past) chance(limit float64) float64 {
	return max(p.wander.chance(limit*limit), p.burst.chance(limit*limit))
}

// calibration is the basis of limits. The zero value means not calibrated.
type calibration struct {
	known bool
	// turns per minute, in minutes with turns.
	turns float64
	spans [spans]past
	// usualTail is the usual share of slow turns, tail the extremes of that share.
	usualTail float64
	tail      tailOf
}

// limit returns the value that a window exceeds with probability chance in a block, at a time
// when the level moves wide times as much as usual.
func (c *calibration) limit(window int, chance, wide float64) float64 {
	if spanTable()[window].step {
		wide = math.Sqrt(wide)
	}
	return wide * c.spans[window].limit(chance)
}

// noise returns the standard deviation of a window's reading that comes from single turns.
func (c *calibration) noise(w span, spread float64) float64 {
	turns := 1 / max(1, c.turns*float64(w.minutes))
	if w.step {
		turns += 1 / max(1, c.turns*before)
	}
	return spread * math.Sqrt(turns)
}

// ofTurns returns the share of the variance of a window's mean that comes from single turns. It
// is 0 where bursts decide the limit, because more turns do not reduce them.
func (c *calibration) ofTurns(window int, spread, chance float64) float64 {
	w := spanTable()[window]
	w.step = false
	p := &c.spans[window]
	noise, sd := c.noise(w, spread), p.sd
	if !c.known || sd == 0 || p.burst.beyond(chance) > p.wander.beyond(chance) {
		return 0
	}
	return min(mostOfTurns, noise*noise/(sd*sd))
}

// mostOfTurns bounds the result of ofTurns, which is computed from estimates.
const mostOfTurns = 0.75

// maxima collects the highest value of each block.
type maxima struct {
	block   int64
	highest float64
	all     []float64
}

func (m *maxima) take(minute int64, v float64) {
	if b := minute / blockMinutes; b != m.block {
		m.close()
		m.block, m.highest = b, 0
	}
	m.highest = max(m.highest, v)
}

func (m *maxima) close() {
	if m.block != 0 {
		m.all = append(m.all, m.highest)
	}
}

// replayer reads a history once and collects the largest fall of each block, and in short windows
// the largest rise. A level is divided by the usual variation at that time of day. A step is divided
// by the square root of that variation, because steps grow less than proportionally with it.
type replayer struct {
	levels, steps scan
	sum, n        [spans]float64 // of squares of falls
	falls, rises  [spans]maxima
}

func (r *replayer) take(minute int64, table *[spans]span) {
	for i, w := range table {
		scan := &r.levels
		if w.step {
			scan = &r.steps
		}
		m := scan.measure(w)
		v := max(0, m.mirrored().reading().rise)
		r.falls[i].take(minute, v)
		if v > 0 {
			r.sum[i] += v * v
			r.n[i]++
		}
		if w.minutes <= burstMinutes {
			r.rises[i].take(minute, max(0, m.reading().rise))
		}
	}
}

// squares returns the squares of the extremes, because the squares of normal values have a straight
// tail and the values do not.
func (m *maxima) squares() []float64 {
	m.close()
	out := make([]float64, len(m.all))
	for i, v := range m.all {
		out[i] = v * v
	}
	return out
}

// replayedMinute is a minute of the past with its baseline.
type replayedMinute struct {
	minute int64
	turns  float64
	// level and step are sums of log ratios, divided as in a replayer.
	level, step float64
	tail        float64
}

// replayMinutes compares the minutes of a history with their baseline as known today. It leaves
// out long rises and their neighbourhood.
func replayMinutes(h *history, usual func(minute int64) float64, wide func(time.Time) float64) []replayedMinute {
	all := make([]replayedMinute, 0, h.last()-h.first+1)
	h.each(func(minute int64, turns, mean, tail float64) {
		if x := mean - usual(minute); !math.IsNaN(x) {
			total, unit := turns*min(max(x, -clip), clip), wide(time.Unix(minute*60, 0))
			all = append(all, replayedMinute{minute, turns, total / unit, total / math.Sqrt(unit), tail})
		}
	})
	var s scan
	keep, until := all[:0], int64(0)
	for _, m := range all {
		s.push(m.minute, m.turns, m.level, 0)
		if s.mean(lastingMinutes) >= lasting {
			until = m.minute + lastingMinutes
			for len(keep) > 0 && keep[len(keep)-1].minute > m.minute-lastingMinutes {
				keep = keep[:len(keep)-1]
			}
		}
		if m.minute > until {
			keep = append(keep, m)
		}
	}
	return keep
}

func calibrate(h *history, usual func(minute int64) float64, wide func(time.Time) float64) calibration {
	var c calibration
	var r replayer
	var tails maxima
	tail := 0.0
	table := spanTable()
	minutes := 0.0
	for _, m := range replayMinutes(h, usual, wide) {
		minutes++
		c.turns += m.turns
		r.levels.push(m.minute, m.turns, m.level, m.tail)
		r.steps.push(m.minute, m.turns, m.step, 0)
		r.take(m.minute, &table)
		tail += m.tail
		share, _ := r.levels.tailShare() // even of few turns, since rare events have their extremes there
		tails.take(m.minute, share)
	}
	if len(r.falls[0].all)+1 < leastBlocks { // and the block in progress
		return calibration{}
	}
	c.known = true
	if len(tails.all) >= leastBlocks {
		c.usualTail, c.tail = tail/c.turns, gumbel(tails.all)
	}
	c.turns /= minutes
	for i, w := range table {
		p := &c.spans[i]
		p.wander = gumbel(r.falls[i].squares())
		p.sd = math.Sqrt(r.sum[i] / max(1, r.n[i]))
		if w.minutes <= burstMinutes {
			p.burst = gumbel(r.rises[i].squares())
		}
	}
	return c
}
