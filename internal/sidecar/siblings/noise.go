package siblings

import (
	"math"
	"slices"

	"synthetic/internal/probe"
)

// noise is what the siblings themselves say of how much one differs from another
// for nothing, in one stratum.
type noise struct {
	// level is the median of all, in logarithms of seconds.
	level probe.Opt[float64]
	// turn is the variance of single turns within replicas.
	turn average
	// between is, for each window, the variance that the siblings' levels have
	// beside it, and highest what the highest of them does in an hour.
	between [windows]average
	highest [windows]hours
}

// average forgets: the newest of most values weigh as much as all before.
type average struct{ value, weight float64 }

func (a *average) add(v, most float64) {
	a.weight = min(a.weight+1, most)
	a.value += (v - a.value) / a.weight
}

// hours has the mean and the variance of the highest of each hour.
type hours struct {
	mean, square average
	now          float64
}

func (h *hours) close() {
	if h.now > 0 {
		h.mean.add(h.now, extremes)
		h.square.add(h.now*h.now, extremes)
	}
	h.now = 0
}

const (
	// learned is for how many steps the noise is remembered, about a quarter of a
	// day, and extremes for how many hours that of the highest.
	learned, extremes = 2160, 7 * 24
	// leastHours tell what the highest of an hour does.
	leastHours = 6
	// priorTurn and priorBetween are the standard deviations that are expected before
	// anything is known, worth so many looks of their own.
	priorTurn, priorBetween, priorLooks = 0.5, 0.12, 4
	// leastBetween is by how much replicas always may differ.
	leastBetween = 0.05
	// heavy is for tails that are heavier than those of a normal distribution, and for
	// means of windows that move, which cross a limit z more often than overlap says: z²
	// times in a length (Pickands 1969).
	heavy = 1.15
)

func newNoise() (n noise) {
	n.turn = average{priorTurn * priorTurn, 1}
	for w, length := range windowSteps() {
		n.between[w] = average{priorBetween * priorBetween, priorLooks * float64(length)}
	}
	return n
}

// most is the limit above which the level of the longest window pages whatever the
// siblings did before: four times the median.
const most = 2 * math.Ln2

// limit is how far above the median of its siblings a replica with n turns in a
// window is sick, at a chance for each look to be wrong.
func (s *noise) limit(w int, n float64, c chances) float64 {
	alone := s.turn.value / n
	z := heavy * c.z[w]
	must := z * math.Sqrt(alone+leastBetween*leastBetween)
	may := z * math.Sqrt(alone+s.between[w].value)
	limit := max(may, s.highest[w].beyond(c))
	if w == windows-1 {
		limit = max(must, min(limit, most))
	}
	return limit
}

// beyond is what the highest of an hour exceeds with the chance, by a Gumbel
// distribution of the same mean and variance.
func (h *hours) beyond(c chances) float64 {
	n := h.mean.weight
	if n < leastHours {
		return 0
	}
	deviation := math.Sqrt(max(0, h.square.value-h.mean.value*h.mean.value))
	return h.mean.value + deviation*math.Sqrt(6)/math.Pi*(1+2/math.Sqrt(n))*(c.hour-0.5772)
}

// chances say how sure a page must be, by what is promised for the whole service.
type chances struct {
	// z is the quantile of a normal distribution for a look, by window, hour that of
	// an exponential one for an hour, and failing the sum of a replica that fails.
	z             [windows]float64
	hour, failing float64
}

// promise spreads pages in 30 days over so many replicas: half of them over the strata
// and windows of their latencies.
func promise(pages float64, replicas int) (c chances) {
	pages /= 2
	each := pages / float64(replicas*active*windows)
	for w, length := range windowSteps() {
		looks := overlap * month / float64(length)
		c.z[w] = math.Sqrt2 * math.Erfinv(1-2*min(each/looks, 0.01))
	}
	c.hour = math.Log(month / float64(hour) * active * windows / pages)
	c.failing = math.Log(10 * month * float64(replicas) / pages) // of a turn a second
	return c
}

const (
	// active strata have turns, as a rule; overlap is how many looks of their own
	// a window has in its length.
	active, overlap = 4, 2
)

// learn takes the differences of the calm replicas in a window from their median,
// and how many turns each stands on.
func (s *noise) learn(w int, differences, turns []float64) {
	for i, d := range differences {
		s.highest[w].now = max(s.highest[w].now, d)
		differences[i] = math.Abs(d)
	}
	alone := 0.0
	for _, n := range turns {
		alone += s.turn.value / n
	}
	spread := 1.4826 * median(differences)
	s.between[w].add(max(leastBetween*leastBetween, spread*spread-alone/float64(len(turns))), learned)
}

// median sorts; there must be a value.
func median(v []float64) float64 {
	slices.Sort(v)
	m := len(v) / 2
	if len(v)%2 == 1 {
		return v[m]
	}
	return (v[m-1] + v[m]) / 2
}
