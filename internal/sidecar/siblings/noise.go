package siblings

import (
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
)

// noise describes how much healthy siblings differ from each other in one stratum.
type noise struct {
	// level is the median of all, in logarithms of seconds.
	level probe.Opt[float64]
	// turn is the variance of single turns within replicas.
	turn average
	// between holds, for each window, the additional variance of the siblings' levels; highest
	// the highest level of an hour.
	between [windows]average
	highest [windows]hourlyMaxima
}

// average is a mean that decays: all older values together weigh as much as the newest ones.
type average struct{ value, weight float64 }

func (a *average) add(v, maxWeight float64) {
	a.weight = min(a.weight+1, maxWeight)
	a.value += (v - a.value) / a.weight
}

// hourlyMaxima holds the mean and the mean square of the maxima of finished hours.
type hourlyMaxima struct {
	mean, square average
	// current is the maximum of the current hour.
	current float64
}

func (h *hourlyMaxima) endHour() {
	if h.current > 0 {
		h.mean.add(h.current, maximaHours)
		h.square.add(h.current*h.current, maximaHours)
	}
	h.current = 0
}

const (
	// noiseSteps is the memory of the noise in steps, about a quarter of a day; maximaHours that
	// of hourly maxima.
	noiseSteps, maximaHours = 2160, 7 * 24
	// minHours is the number of hours needed to know the maxima.
	minHours = 6
	// priorTurn and priorBetween are the standard deviations assumed at first, with the weight
	// of priorLooks comparisons.
	priorTurn, priorBetween, priorLooks = 0.5, 0.12, 4
	// minBetween is the smallest assumed standard deviation between replicas.
	minBetween = 0.05
	// tailFactor allows for tails heavier than those of a normal distribution, and for moving
	// windows, which cross a limit z more often than overlap says: z² times per length
	// (Pickands 1969).
	tailFactor = 1.15
	// maxLongLimit is the limit above which the longest window always pages: four times the
	// median.
	maxLongLimit = 2 * math.Ln2
	// month is the period of the accepted false pages, in steps.
	month = float64(30 * 24 * time.Hour / step)
	// usedStrata is the usual number of strata with turns, overlap the number of independent
	// comparisons in a window's length.
	usedStrata, overlap = 4, 2
)

func newNoise() (n noise) {
	n.turn = average{priorTurn * priorTurn, 1}
	for w, length := range windowSteps() {
		n.between[w] = average{priorBetween * priorBetween, priorLooks * float64(length)}
	}
	return n
}

// limit returns how far above its siblings' median a replica with n turns in a window must be,
// for the error probabilities c.
func (s *noise) limit(w int, n float64, c chances) float64 {
	alone := s.turn.value / n
	z := tailFactor * c.z[w]
	limit := max(z*math.Sqrt(alone+s.between[w].value), s.highest[w].quantile(c))
	if w == windows-1 {
		lowest := z * math.Sqrt(alone+minBetween*minBetween)
		limit = max(lowest, min(limit, maxLongLimit))
	}
	return limit
}

// quantile returns the value that the hourly maximum exceeds with the chance of c, by a Gumbel
// distribution of the same mean and variance; 0 before minHours.
func (h *hourlyMaxima) quantile(c chances) float64 {
	n := h.mean.weight
	if n < minHours {
		return 0
	}
	deviation := math.Sqrt(max(0, h.square.value-h.mean.value*h.mean.value))
	return h.mean.value + deviation*math.Sqrt(6)/math.Pi*(1+2/math.Sqrt(n))*(c.hour-0.5772)
}

// chances are error probabilities that follow from the accepted false pages of a service.
type chances struct {
	// z is the normal quantile for one comparison, by window; hour the exponential quantile for
	// an hour; failing the limit of a failing replica's sum.
	z             [windows]float64
	hour, failing float64
}

// newChances divides the accepted false pages in 30 days among the replicas. Half of them are
// for latency, divided among strata and windows.
func newChances(pages float64, replicas int) (c chances) {
	pages /= 2
	each := pages / float64(replicas*usedStrata*windows)
	for w, length := range windowSteps() {
		comparisons := overlap * month / float64(length)
		c.z[w] = math.Sqrt2 * math.Erfinv(1-2*min(each/comparisons, 0.01))
	}
	c.hour = math.Log(month / float64(hour) * usedStrata * windows / pages)
	c.failing = math.Log(10 * month * float64(replicas) / pages) // at one turn a second
	return c
}

// learnTurns learns how much single turns vary within a minute.
func (s *noise) learnTurns(samples []sample) {
	var squares, freedom float64
	for _, l := range samples {
		if v := l.sums[1]; v.n >= 2 {
			squares += v.squaresAroundMean()
			freedom += v.n - 1
		}
	}
	if freedom >= minTurns {
		s.turn.add(squares/freedom, noiseSteps)
	}
}

// learnDifferences learns from the differences of healthy replicas from their median in a
// window, with their numbers of turns.
func (s *noise) learnDifferences(w int, differences, turns []float64) {
	for i, d := range differences {
		s.highest[w].current = max(s.highest[w].current, d)
		differences[i] = math.Abs(d)
	}
	alone := 0.0
	for _, n := range turns {
		alone += s.turn.value / n
	}
	spread := 1.4826 * baseline.Median(differences)
	s.between[w].add(max(minBetween*minBetween, spread*spread-alone/float64(len(turns))), noiseSteps)
}
