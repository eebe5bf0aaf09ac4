package answers

import (
	"math"
	"sync"
)

// Usual knows what the answers of one kind of turn are like. The zero value
// knows nothing yet. It is safe for concurrent use.
type Usual struct {
	mu sync.Mutex
	// taught are the answers that it knows, odd those in a row that were unlike
	// them.
	taught, odd int
	// mean and variance are of ln(1 + tokens).
	mean, variance float64
	in             [scripts]int
}

const (
	// young is how many answers say nothing yet of what is usual.
	young = 50
	// span is over how many answers the length is averaged.
	span = 500
	// A length is odd that is four times the usual, and beyond five deviations:
	// answers that end by themselves vary.
	oddFactor, oddDeviations = 4, 5
	// A script is odd that fewer than one in so many answers have.
	oddScript = 50
	// accepted is after how many odd answers in a row they are the usual: some
	// hours of the default traffic.
	accepted = 1000
)

// Judge compares an answer of so many tokens, 0 for unknown, with those before,
// and learns from it. What the text says by itself goes first, and teaches
// nothing.
func (u *Usual) Judge(l Look, tokens int) Reason {
	if l.Reason != "" {
		return l.Reason
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	length := math.Log1p(float64(tokens))
	reason := u.unlike(l.script, tokens, length)
	if reason == "" {
		u.learn(l.script, tokens, length)
		return ""
	}
	if u.odd++; u.odd >= accepted {
		u.taught, u.odd, u.mean, u.variance, u.in = 0, 0, 0, 0, [scripts]int{}
	}
	return reason
}

// unlike says in what an answer is unlike the usual ones.
func (u *Usual) unlike(s script, tokens int, length float64) Reason {
	known := 0
	for _, n := range u.in[none+1:] {
		known += n
	}
	switch {
	case s != none && known >= young && u.in[s]*oddScript < known:
		return Language
	case tokens > 0 && u.taught >= young && math.Abs(length-u.mean) > max(math.Log(oddFactor), oddDeviations*math.Sqrt(u.variance)):
		return Length
	}
	return ""
}

func (u *Usual) learn(s script, tokens int, length float64) {
	u.odd = 0
	u.in[s]++
	if tokens == 0 {
		return
	}
	u.taught = min(u.taught+1, span)
	weight, off := 1/float64(u.taught), length-u.mean
	u.mean += weight * off
	u.variance = (1 - weight) * (u.variance + weight*off*off)
}
