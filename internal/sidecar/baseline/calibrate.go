package baseline

import (
	"math"
	"slices"
	"time"
)

// Limits are chosen by replay: the scan goes through the target's own past, and
// each window's limit is what that past would have exceeded no more often than
// promised. What lies below the usual is the measure of what a level does by
// itself, since faults only raise it: the past is replayed upside down. Short
// windows are looked at the right way up, too, with what was up for longer left
// out, for bursts have no mirror image.

const (
	// blockMinutes of the past give one extreme each.
	blockMinutes = 6 * 60
	// leastBlocks make a calibration: two days.
	leastBlocks = 8
	// burstMinutes is the longest window that bursts are looked for in. What lifts
	// the mean of lastingMinutes by lasting is no burst, and left out with what is
	// around it.
	burstMinutes            = 30
	lastingMinutes, lasting = 45, 0.17
	// independent is how many of the windows see something of their own: the
	// promise is divided among so many.
	independent = 6
)

// tailOf describes the extremes of a value: a block exceeds x with a chance of
// about e^(−(x−location)/scale).
type tailOf struct{ location, scale float64 }

// gumbel fits a Gumbel distribution to the extremes of blocks by L-moments
// (Hosking 1990), and widens it for what so few may be off by.
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

// beyond is what a block exceeds with a chance.
func (t tailOf) beyond(chance float64) float64 { return t.location + t.scale*math.Log(1/chance) }

// chance is that of a block to exceed x.
func (t tailOf) chance(x float64) float64 {
	if t.scale == 0 {
		return 0
	}
	return min(1, math.Exp(-(x-t.location)/t.scale))
}

// past is what the replay of a history showed of a window.
type past struct {
	// wander is of the squares of the extremes below the usual, burst of the
	// extremes above it in short windows; sd is the standard deviation of the
	// window's mean, from below.
	wander, burst tailOf
	sd            float64
}

// limit is what the window exceeds no more often than a chance for each block.
func (p past) limit(chance float64) float64 {
	return math.Sqrt(max(0, p.wander.beyond(chance), p.burst.beyond(chance)))
}

// chance is that of a block to exceed a limit for nothing.
func (p past) chance(limit float64) float64 {
	return max(p.wander.chance(limit*limit), p.burst.chance(limit*limit))
}

// calibration is what limits are chosen from. The zero value knows nothing.
type calibration struct {
	known bool
	// turns is how many a minute has that has any.
	turns float64
	spans [spans]past
	// usualTail is the usual share of turns in the tail, tail of what the share
	// over a window exceeds it by.
	usualTail float64
	tail      tailOf
}

// limit is what a window, by index, exceeds no more often than a chance for each
// block, where the level wanders so many times as much as it does as a rule.
func (c *calibration) limit(window int, chance, wide float64) float64 {
	if spanTable()[window].step {
		wide = math.Sqrt(wide)
	}
	return wide * c.spans[window].limit(chance)
}

// noise is the standard deviation that single turns give the reading of a window.
func (c *calibration) noise(w span, spread float64) float64 {
	turns := 1 / max(1, c.turns*float64(w.minutes))
	if w.step {
		turns += 1 / max(1, c.turns*before)
	}
	return spread * math.Sqrt(turns)
}

// ofTurns is the part of the variance of a window's mean that single turns make,
// those in front of a step left out; 0 where bursts of the level, which no number of
// turns makes less, choose the limit for a chance.
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

// mostOfTurns is the most that ofTurns says: what it follows from are estimates.
const mostOfTurns = 0.75

// replayer collects the extremes of one pass through a history. Levels are in units
// of how much they wander at such a time; steps in those of its root, for an hour
// whose level differs from day to day is not as much more abrupt.
type replayer struct {
	levels  scan
	steps   scan
	block   int64
	sum     [spans]float64 // of squares, of what is above 0
	n       [spans]float64
	highest [spans]float64
	all     [spans][]float64
}

func (r *replayer) take(minute int64, table *[spans]span, upTo int) {
	if b := minute / blockMinutes; b != r.block {
		r.close()
		r.block = b
	}
	for i, w := range table {
		if w.minutes > upTo {
			continue
		}
		scan := &r.levels
		if w.step {
			scan = &r.steps
		}
		if v := scan.read(w).rise; v > 0 {
			r.sum[i] += v * v
			r.n[i]++
			r.highest[i] = max(r.highest[i], v)
		}
	}
}

// close ends a block.
func (r *replayer) close() {
	if r.block == 0 {
		return
	}
	for i := range r.highest {
		r.all[i] = append(r.all[i], r.highest[i])
		r.highest[i] = 0
	}
}

// relived is a minute of the past beside what was usual then.
type relived struct {
	minute int64
	turns  float64
	// level and step are the sum of the log ratios in the units of either.
	level, step float64
	tail        float64
}

// relive lays the minutes of a history beside what was usual then, as far as that
// is known today, and leaves out what was up for long, and what is around it.
func relive(h *history, usual func(minute int64) float64, wide func(time.Time) float64) []relived {
	all := make([]relived, 0, h.last()-h.first+1)
	h.each(func(minute int64, turns, mean, tail float64) {
		if x := mean - usual(minute); !math.IsNaN(x) {
			total, unit := turns*min(max(x, -clip), clip), wide(time.Unix(minute*60, 0))
			all = append(all, relived{minute, turns, total / unit, total / math.Sqrt(unit), tail})
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

// calibrate replays a history beside what was usual.
func calibrate(h *history, usual func(minute int64) float64, wide func(time.Time) float64) calibration {
	var c calibration
	var mirror, upright replayer
	var share shares
	table := spanTable()
	minutes := 0.0
	for _, m := range relive(h, usual, wide) {
		minutes++
		c.turns += m.turns
		mirror.levels.push(m.minute, m.turns, -m.level, 0)
		mirror.steps.push(m.minute, m.turns, -m.step, 0)
		mirror.take(m.minute, &table, scanned)
		upright.levels.push(m.minute, m.turns, m.level, m.tail)
		upright.steps.push(m.minute, m.turns, m.step, 0)
		upright.take(m.minute, &table, burstMinutes)
		share.take(m.minute, &upright.levels, m.turns, m.tail)
	}
	mirror.close()
	upright.close()
	if len(mirror.all[0]) < leastBlocks {
		return calibration{}
	}
	c.known = true
	c.turns /= minutes
	for i, w := range table {
		p := &c.spans[i]
		p.wander = gumbel(squares(mirror.all[i]))
		p.sd = math.Sqrt(mirror.sum[i] / max(1, mirror.n[i]))
		if w.minutes <= burstMinutes {
			p.burst = gumbel(squares(upright.all[i]))
		}
	}
	c.usualTail, c.tail = share.result()
	return c
}

// squares are those of extremes: of what is distributed normally they, and not
// the extremes, have a straight tail.
func squares(extremes []float64) []float64 {
	out := make([]float64, len(extremes))
	for i, v := range extremes {
		out[i] = v * v
	}
	return out
}

// shares are the extremes of the share of turns in the tail.
type shares struct {
	block       int64
	turns, tail float64
	highest     float64
	all         []float64
}

func (s *shares) take(minute int64, scan *scan, turns, tail float64) {
	s.turns += turns
	s.tail += tail
	if b := minute / blockMinutes; b != s.block {
		if s.block != 0 {
			s.all = append(s.all, s.highest)
		}
		s.block, s.highest = b, 0
	}
	share, _ := scan.tailShare() // of few turns, too: what is so rare has its extremes among them
	s.highest = max(s.highest, share)
}

// result is the usual share, and the extremes of the share.
func (s *shares) result() (usual float64, extremes tailOf) {
	if len(s.all) < leastBlocks || s.turns == 0 {
		return 0, tailOf{}
	}
	return s.tail / s.turns, gumbel(s.all)
}
