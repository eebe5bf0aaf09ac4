package watch

import (
	"math"
	"math/bits"
)

// A class of turns is their kind and their size in powers of two. Each turn is compared with others of its class, so
// that a change of the mixture is no rise.
type classes [classCount]class

const (
	sizes      = 20 // 0 is unknown
	classCount = 2 * sizes
	// learnTurns is how many turns a class needs before it is known, mostClass over how many it averages.
	learnTurns, mostClass = 8, 4000
)

type class struct {
	// Turns learned, at most mostClass, and the mean logarithm of a turn at the usual level 0.
	Turns, Mean float32
}

// classOf returns the class of a turn with a number of tokens, 0 if unknown.
func classOf(kind, tokens int) int {
	return kind*sizes + min(bits.Len(uint(max(0, tokens))), sizes-1)
}

// known reports whether enough turns of a class were learned.
func (c *classes) known(i int) bool { return c[i].Turns >= learnTurns }

// mean returns what the logarithm of a turn of a class is compared with. A class that is not known yet begins where the line
// of its kind says, or the nearest known class; a turn of unknown size, as without usage, is compared with its kind.
func (c *classes) mean(i int) (mean float64, ok bool) {
	if c.known(i) {
		return float64(c[i].Mean), true
	}
	kind, size := i/sizes, i%sizes
	if size == 0 {
		return c.of(kind)
	}
	if base, perToken, ok := c.line(kind); ok {
		return math.Log(base + perToken*middle(size)), true
	}
	for away := 1; away < sizes; away++ {
		for _, near := range []int{size - away, size + away} {
			if near > 0 && near < sizes && c[kind*sizes+near].Turns >= learnTurns {
				return float64(c[kind*sizes+near].Mean), true
			}
		}
	}
	return c.of(kind)
}

// middle returns the tokens in the middle of a size.
func middle(size int) float64 { return 0.75 * math.Exp2(float64(size)) }

// learn moves the mean of a class towards ln, the logarithm of a turn without the present level of the job.
func (c *classes) learn(i int, ln float64) {
	k := &c[i]
	if mean, ok := c.mean(i); ok && k.Turns == 0 {
		*k = class{learnTurns, float32(mean)}
	}
	k.Turns = min(k.Turns+1, mostClass)
	k.Mean += float32((ln - float64(k.Mean)) / float64(k.Turns))
}

// of returns the mean of the turns of a kind.
func (c *classes) of(kind int) (mean float64, ok bool) {
	sum, n := 0.0, 0.0
	for _, k := range c[kind*sizes : (kind+1)*sizes] {
		sum, n = sum+float64(k.Turns)*float64(k.Mean), n+float64(k.Turns)
	}
	if n < learnTurns {
		return 0, false
	}
	return sum / n, true
}

// line returns the seconds of a turn of a kind at the usual level 0, as base + perToken × tokens, by least squares over the
// classes; ok is false with fewer than two known ones, or if larger turns are not slower.
func (c *classes) line(kind int) (base, perToken float64, ok bool) {
	var n, x, y, xx, xy float64
	known := 0
	for size := 1; size < sizes; size++ {
		k := c[kind*sizes+size]
		if k.Turns < learnTurns {
			continue
		}
		known++
		w, tokens, seconds := float64(k.Turns), middle(size), math.Exp(float64(k.Mean))
		n, x, y, xx, xy = n+w, x+w*tokens, y+w*seconds, xx+w*tokens*tokens, xy+w*tokens*seconds
	}
	if known < 2 {
		return 0, 0, false
	}
	perToken = (n*xy - x*y) / (n*xx - x*x)
	base = (y - perToken*x) / n
	return base, perToken, base > 0 && perToken > 0
}
