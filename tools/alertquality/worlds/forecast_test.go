package worlds

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/backtest"
)

// TestForecasts: a fault of all turns has a forecast from before its onset. The forecast is NaN
// if the recorder exports none.
func TestForecasts(t *testing.T) {
	slow := Injection{Fault{Kind: Slow, Size: 2}, time.Hour, 2 * time.Hour}
	part := Injection{Fault{Kind: Slow, Size: 2, Share: 0.1}, 3 * time.Hour, 4 * time.Hour}
	s := NewSimulation(SimulationOptions{
		Deployments: []Deployment{{Target: targetName, Model: Quiet(), Seed: 1, Injections: []Injection{slow, part}}},
		SLOs:        backtest.Objectives(), Start: epoch(), Length: day,
	})
	if err := s.Advance(t.Context(), backtest.NewStore(), epoch().Add(4*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	all := s.incidents()
	if f := all[0].Forecast; f == nil || !math.IsNaN(*f) {
		t.Errorf("forecast %+v of the fault of all turns", f)
	}
	if all[1].Forecast != nil {
		t.Errorf("forecast %+v of the fault of some turns", all[1].Forecast)
	}
}
