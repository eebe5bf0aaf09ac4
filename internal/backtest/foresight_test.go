package backtest

import (
	"math"
	"testing"
	"time"
)

// TestScoreForecasts lays what was said beside what was found.
func TestScoreForecasts(t *testing.T) {
	of := func(said, toPage float64) Detection {
		return Detection{Incident: Incident{Forecast: &Forecast{said}}, ToPage: toPage}
	}
	got := scoreForecasts([]Detection{
		of(600, 300), of(math.Inf(1), math.Inf(1)), of(500, 900), of(math.NaN(), 1), {Incident: Incident{}},
	})
	if got == nil || got.Incidents != 3 || *got.MedianForecast != 600 || *got.MedianReplayed != 900 {
		t.Errorf("scored %+v", got)
	}
	if scoreForecasts(nil) != nil {
		t.Error("a score of nothing")
	}
}

// TestForesee: a fault of all turns has a forecast, taken before it began; a
// recorder that says nothing gives none that is known.
func TestForesee(t *testing.T) {
	slow := Injection{Fault{Kind: Slow, Size: 2}, time.Hour, 2 * time.Hour}
	part := Injection{Fault{Kind: Slow, Size: 2, Share: 0.1}, 3 * time.Hour, 4 * time.Hour}
	s := NewSimulation(SimulationOptions{
		Deployments: []Deployment{{Target: Target, Model: Quiet(), Seed: 1, Injections: []Injection{slow, part}}},
		SLOs:        Objectives(), Start: epoch(), Length: day,
	})
	if err := s.Advance(t.Context(), NewStore(), epoch().Add(4*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	all := s.incidents()
	if f := all[0].Forecast; f == nil || !math.IsNaN(f.Delay) {
		t.Errorf("forecast %+v of the fault of all turns", f)
	}
	if all[1].Forecast != nil {
		t.Errorf("forecast %+v of the fault of some turns", all[1].Forecast)
	}
}
