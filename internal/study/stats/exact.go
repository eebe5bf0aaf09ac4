package stats

import "math"

// mostExact bounds the numbers of turns of ByChance, whose time grows with their square root.
const mostExact = 1e9

// ByChance returns the probability that at least as many bad turns fall into the second of two samples if both
// have one share of bad turns (Fisher's exact test, one-sided). Fractions of effective turns are rounded so that
// the probability rises. It is 1 if the second share is not the larger one.
func ByChance(first, second Tally) float64 {
	least := math.Floor(second.Bad)
	bad := math.Ceil(first.Bad) + least
	n1, n2 := max(math.Floor(first.Good+first.Bad), math.Ceil(first.Bad)), math.Ceil(second.Good+second.Bad)
	if !(least*n1 > (bad-least)*n2) || n1+n2 > mostExact {
		return 1
	}
	p, all := 0.0, logChoose(n1+n2, bad)
	for k := least; k <= min(bad, n2); k++ {
		if bad-k > n1 {
			continue
		}
		term := math.Exp(logChoose(n1, bad-k) + logChoose(n2, k) - all)
		if p += term; term < 1e-12*p {
			break // the terms fall
		}
	}
	return min(p, 1)
}

// logChoose returns ln of the number of ways to choose k of n.
func logChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}
