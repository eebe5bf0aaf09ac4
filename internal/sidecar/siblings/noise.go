package siblings

import (
	"math"
	"slices"

	"synthetic/internal/probe"
)

// noise describes how much healthy siblings differ from each other in one stratum.
type noise struct {
	// median of all, in logarithms of seconds
	level probe.Opt[float64]
	// variance of single turns within replicas
	turn average
	// between holds, for each window, the additional variance of the siblings' levels; highest
	// the highest level of an hour.
	between [windows]average
	highest [windows]hours
}

// average is a mean that decays: all older values together weigh as much as the newest ones.
type average struct{ value, weight float64 }

func (a *average) add(v, most float64) {
	a.weight = min(a.weight+1, most)
	a.value += (v - a.value) / a.weight
}

// hours holds the mean and the variance of the hourly maxima.
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
	// learned is the memory of the noise in steps, about a quarter of a day; extremes that of
	// hourly maxima, in hours.
	learned, extremes = 2160, 7 * 24
	// leastHours is the number of hours needed to know the maxima.
	leastHours = 6
	// priorTurn and priorBetween are the standard deviations assumed at first, with the weight
	// of priorLooks looks.
	priorTurn, priorBetween, priorLooks = 0.5, 0.12, 4
	// leastBetween is the smallest assumed difference of replicas.
	leastBetween = 0.05
	// heavy allows for tails heavier than those of a normal distribution, and for moving
	// windows, which cross a limit z more often than overlap says: z² times per length
	// (Pickands 1969).
	heavy = 1.15
)

func newNoise() (n noise) {
	n.turn = average{priorTurn * priorTurn, 1}
	for w, length := range windowSteps() {
		n.between[w] = average{priorBetween * priorBetween, priorLooks * float64(length)}
	}
	return n
}

// most is the limit above which the longest window always pages: four times the median.
const most = 2 * math.Ln2

// limit returns how far above its siblings' median a replica with n turns in a window must be,
// for the error probabilities c.
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

// beyond returns the value that the hourly maximum exceeds with the chance of c, by a Gumbel
// distribution of the same mean and variance.
func (h *hours) beyond(c chances) float64 {
	n := h.mean.weight
	if n < leastHours {
		return 0
	}
	deviation := math.Sqrt(max(0, h.square.value-h.mean.value*h.mean.value))
	return h.mean.value + deviation*math.Sqrt(6)/math.Pi*(1+2/math.Sqrt(n))*(c.hour-0.5772)
}

// chances are error probabilities that follow from the accepted false pages of a service.
type chances struct {
	// z is the normal quantile for a look, by window; hour the exponential quantile for an
	// hour; failing the limit of a failing replica's sum.
	z             [windows]float64
	hour, failing float64
}

// promise divides the accepted pages in 30 days among the replicas, half of them among strata
// and windows of latency.
func promise(pages float64, replicas int) (c chances) {
	pages /= 2
	each := pages / float64(replicas*active*windows)
	for w, length := range windowSteps() {
		looks := overlap * month / float64(length)
		c.z[w] = math.Sqrt2 * math.Erfinv(1-2*min(each/looks, 0.01))
	}
	c.hour = math.Log(month / float64(hour) * active * windows / pages)
	c.failing = math.Log(10 * month * float64(replicas) / pages) // at one turn a second
	return c
}

const (
	// active is the usual number of strata with turns, overlap the number of independent looks
	// in a window's length.
	active, overlap = 4, 2
)

// learn takes the differences of healthy replicas from their median in a window, with their
// numbers of turns.
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

// median sorts v, which must not be empty.
func median(v []float64) float64 {
	slices.Sort(v)
	m := len(v) / 2
	if len(v)%2 == 1 {
		return v[m]
	}
	return (v[m-1] + v[m]) / 2
}
