package watch

import "math/bits"

// A class of turns is their kind and their size in powers of two. Each turn is compared with others of its class, so
// that a change of the mixture is no rise.
type classes map[int]class

const (
	sizes = 20 // 0 is unknown
	// A class is known after few turns, and is a mean over mostClass.
	mostClass = 4000
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
func (c classes) known(i int) bool { return c[i].Turns >= few }

// mean returns what the logarithm of a turn of a class is compared with. A class that is not known yet begins at the nearest
// known one; a turn of unknown size, as without usage, is compared with its kind.
func (c classes) mean(i int) (mean float64, ok bool) {
	if c.known(i) {
		return float64(c[i].Mean), true
	}
	kind, size := i/sizes, i%sizes
	if size == 0 {
		return c.of(kind)
	}
	for away := 1; away < sizes; away++ {
		for _, near := range []int{size - away, size + away} {
			if near > 0 && near < sizes && c.known(kind*sizes+near) {
				return float64(c[kind*sizes+near].Mean), true
			}
		}
	}
	return c.of(kind)
}

// learn moves the mean of a class towards ln, the logarithm of a turn without the present level of the job.
func (c *classes) learn(i int, ln float64) {
	if *c == nil {
		*c = classes{}
	}
	k := (*c)[i]
	if mean, ok := c.mean(i); ok && k.Turns == 0 {
		k = class{few, float32(mean)}
	}
	k.Turns = min(k.Turns+1, mostClass)
	k.Mean += float32((ln - float64(k.Mean)) / float64(k.Turns))
	(*c)[i] = k
}

// of returns the mean of the turns of a kind.
func (c classes) of(kind int) (mean float64, ok bool) {
	sum, n := 0.0, 0.0
	for i := range sizes {
		k := c[kind*sizes+i]
		sum, n = sum+float64(k.Turns)*float64(k.Mean), n+float64(k.Turns)
	}
	if n < few {
		return 0, false
	}
	return sum / n, true
}
