package main

import "slices"

// minimize finds a minimum of f near start by the method of Nelder and Mead:
// a simplex of points is reflected, expanded, contracted and shrunk. steps are
// the sizes of the first simplex. It stops after some evaluations.
func minimize(f func([]float64) float64, start, steps []float64, evaluations int) ([]float64, float64) {
	type point struct {
		x []float64
		y float64
	}
	at := func(x []float64) point { evaluations--; return point{x, f(x)} }
	simplex := []point{at(slices.Clone(start))}
	for i := range start {
		x := slices.Clone(start)
		x[i] += steps[i]
		simplex = append(simplex, at(x))
	}
	byValue := func(a, b point) int {
		switch {
		case a.y < b.y:
			return -1
		case a.y > b.y:
			return 1
		}
		return 0
	}
	n := len(start)
	for evaluations > 0 {
		slices.SortStableFunc(simplex, byValue)
		worst := simplex[n]
		center := make([]float64, n)
		for _, p := range simplex[:n] {
			for i, v := range p.x {
				center[i] += v / float64(n)
			}
		}
		along := func(t float64) point {
			x := make([]float64, n)
			for i := range x {
				x[i] = center[i] + t*(worst.x[i]-center[i])
			}
			return at(x)
		}
		next := along(-1)
		switch {
		case next.y < simplex[0].y:
			if further := along(-2); further.y < next.y {
				next = further
			}
		case next.y >= simplex[n-1].y:
			inner := along(.5)
			if next.y < worst.y {
				inner = along(-.5)
			}
			if inner.y >= min(next.y, worst.y) {
				for i := 1; i <= n; i++ {
					for j := range simplex[i].x {
						simplex[i].x[j] = (simplex[i].x[j] + simplex[0].x[j]) / 2
					}
					simplex[i] = at(simplex[i].x)
				}
				continue
			}
			next = inner
		}
		simplex[n] = next
	}
	slices.SortStableFunc(simplex, byValue)
	return simplex[0].x, simplex[0].y
}
