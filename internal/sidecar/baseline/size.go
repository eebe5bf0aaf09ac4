package baseline

import (
	"maps"
	"math"
)

// In a workload with short and long prompts the TTFT of a turn says little without its size. A sizeLine
// learns the usual value of each size: seconds = Base + PerToken × tokens, and for each class of sizes a
// correction, since attention grows with the square. The baseline then holds for turns of one size, and a
// change of the mix of sizes moves no level.
type sizeLine struct {
	// Base is in seconds, PerToken in seconds; both are 0 until the line is known.
	Base     float64 `json:"base,omitzero"`
	PerToken float64 `json:"per_token,omitzero"`
	// Level is the natural logarithm of the seconds that the baseline stands for: the mean over all turns.
	Level float64 `json:"level,omitzero"`
	// Offset is the mean of the residuals.
	Offset float64 `json:"offset,omitzero"`
	Turns  float64 `json:"turns,omitzero"`
	// Classes holds the classes that have had turns, by number.
	Classes map[int]*sizeClass `json:"classes,omitempty"`
}

// sizeClass holds the turns whose sizes lie within a factor of √2.
type sizeClass struct {
	Turns float64 `json:"turns"`
	// Size is the mean logarithm of the sizes.
	Size float64 `json:"size"`
	// Residual is the running median of the logarithm of seconds above the line and the baseline.
	Residual float64 `json:"residual"`
}

const (
	// sizeClasses classes cover 1 to 2²⁴ tokens.
	sizeClasses = 48
	// A class is known from leastClassTurns turns on. The known classes of a line differ at least by a factor
	// of leastRange.
	leastClassTurns, leastRange = 30, 2
	// A turn of a new size is not compared, once firstSizes turns have shown which sizes are usual.
	firstSizes = 200
	// slowestStep is the weight of a turn of a class with many turns.
	slowestStep = 1. / 2000
	// doubtClass is the number of turns at the line that a class assumes in addition.
	doubtClass = 10
)

// classOf returns the class of a size of at least 1.
func classOf(tokens float64) int { return min(int(2*math.Log2(tokens)), sizeClasses-1) }

func (l *sizeLine) known() bool { return l.Base+l.PerToken > 0 }

// seconds returns the value of the line.
func (l *sizeLine) seconds(tokens float64) float64 { return l.Base + l.PerToken*tokens }

// effect returns the log ratio of the value of a turn of some size to the mean over all turns; 0 if the line
// or the size is unknown.
func (l *sizeLine) effect(tokens float64) float64 {
	if !l.known() || tokens < 1 {
		return 0
	}
	return math.Log(l.seconds(tokens)) - l.Level + l.residual(classOf(tokens))
}

// isNew reports whether turns of this size are too rare to know their usual value.
func (l *sizeLine) isNew(tokens float64) bool {
	if l.Turns < firstSizes || tokens < 1 {
		return false
	}
	for i := classOf(tokens) - 1; i <= classOf(tokens)+1; i++ {
		if c := l.Classes[i]; c != nil && c.Turns >= leastClassTurns {
			return false
		}
	}
	return true
}

// residual returns the correction of a class.
func (l *sizeLine) residual(class int) float64 {
	c := l.Classes[class]
	if c == nil || c.Turns < leastClassTurns {
		return 0
	}
	return (c.Residual - l.Offset) * c.Turns / (c.Turns + doubtClass)
}

// learn adds a turn with its log ratio to the baseline, without its effect.
func (l *sizeLine) learn(tokens, x float64) {
	l.Turns++
	i := classOf(tokens)
	if l.known() {
		x += l.residual(i)
	}
	c := l.Classes[i]
	if c == nil {
		c = &sizeClass{}
		if l.Classes == nil {
			l.Classes = map[int]*sizeClass{}
		}
		l.Classes[i] = c
	}
	c.Turns++
	c.Size += max(1/c.Turns, slowestStep) * (math.Log(tokens) - c.Size)
	c.Residual = towardsMedian(c.Residual, x, c.Turns)
}

// towardsMedian moves an estimate of the median towards the n-th value of a stream (Robbins and Monro, "A
// stochastic approximation method", 1951). Values are expected within about one of the first.
func towardsMedian(estimate, x, n float64) float64 {
	if n <= 1 {
		return x
	}
	return estimate + math.Copysign(max(1/n, slowestStep)/2, x-estimate)
}

// fit fits the line to the classes, so that the sum of the squares of relative errors is smallest, with
// weights by turns. Neither part is negative. The first fit needs the baseline as a natural logarithm of
// seconds. No fit moves the mean over all turns, so the baseline still holds.
func (l *sizeLine) fit(reference float64) {
	var known []*sizeClass
	for i := range sizeClasses { // in order, so that the sums are repeatable
		if c := l.Classes[i]; c != nil && c.Turns >= leastClassTurns {
			known = append(known, c)
		}
	}
	if len(known) == 0 || known[len(known)-1].Size-known[0].Size < math.Log(leastRange) {
		return
	}
	if !l.known() {
		l.Base, l.Level = math.Exp(reference), reference
	}
	mean, old := meanOf(known, (*sizeClass).residual), *l
	var ss, st, tt, s, t float64
	for _, c := range known {
		tokens := math.Exp(c.Size)
		seconds := l.seconds(tokens) * math.Exp(c.Residual-mean)
		w, a, b := min(c.Turns, 1/slowestStep), 1/seconds, tokens/seconds
		ss, st, tt, s, t = ss+w*a*a, st+w*a*b, tt+w*b*b, s+w*a, t+w*b
	}
	if det := ss*tt - st*st; det > 0 {
		l.Base, l.PerToken = (s*tt-t*st)/det, (t*ss-s*st)/det
	}
	switch {
	case !(l.PerToken > 0):
		l.Base, l.PerToken = s/ss, 0
	case !(l.Base > 0):
		l.Base, l.PerToken = 0, t/tt
	}
	scale := math.Exp(l.Level - meanOf(known, l.value))
	l.Base, l.PerToken = scale*l.Base, scale*l.PerToken
	for _, c := range l.Classes {
		c.Residual -= l.value(c) - old.value(c)
	}
	l.Offset = meanOf(known, (*sizeClass).residual)
}

// value returns the logarithm of the value of the line for a class.
func (l *sizeLine) value(c *sizeClass) float64 { return math.Log(l.seconds(math.Exp(c.Size))) }

func (c *sizeClass) residual() float64 { return c.Residual }

// meanOf returns the mean of a quantity over the turns of classes.
func meanOf(classes []*sizeClass, quantity func(*sizeClass) float64) float64 {
	var n, sum float64
	for _, c := range classes {
		n, sum = n+c.Turns, sum+c.Turns*quantity(c)
	}
	return sum / n
}

// at returns the line while the baseline is e^reference seconds.
func (l *sizeLine) at(reference float64) Line {
	now := math.Exp(reference - l.Level)
	return Line{Base: l.Base * now, PerToken: l.PerToken * now}
}

// copy returns a copy that does not change.
func (l *sizeLine) copy() sizeLine {
	out := *l
	out.Classes = maps.Clone(l.Classes)
	for i, c := range out.Classes {
		of := *c
		out.Classes[i] = &of
	}
	return out
}

// plausible returns a line from a state file, and an empty one if it cannot be used.
func (l sizeLine) plausible() sizeLine {
	bounded := func(least, v, most float64) bool { return v >= least && v <= most }
	ok := bounded(0, l.Base, mostSeconds) && bounded(0, l.PerToken, mostSeconds) && bounded(-mostLog, l.Level, mostLog) &&
		bounded(-mostLog, l.Offset, mostLog) && bounded(0, l.Turns, mostTurns)
	for i, c := range l.Classes {
		ok = ok && i >= 0 && i < sizeClasses && c != nil && bounded(0, c.Turns, mostTurns) && bounded(0, c.Size, mostLog) && bounded(-mostLog, c.Residual, mostLog)
	}
	if !ok {
		return sizeLine{}
	}
	return l
}
