package main

import "gonum.org/v1/gonum/optimize"

// minimize finds a minimum of f near start by the method of Nelder and Mead, from a
// simplex of a size. It stops after some evaluations.
func minimize(f func([]float64) float64, start []float64, size float64, evaluations int) ([]float64, float64, error) {
	best, err := optimize.Minimize(optimize.Problem{Func: f}, start,
		&optimize.Settings{FuncEvaluations: evaluations, Converger: optimize.NeverTerminate{}}, &optimize.NelderMead{SimplexSize: size})
	if err != nil {
		return nil, 0, err
	}
	return best.X, best.F, nil
}
