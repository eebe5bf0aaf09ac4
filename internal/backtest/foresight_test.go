package backtest

import (
	"math"
	"testing"
	"time"
)

// TestForecastDelay: the figures that were said are met, what is larger is found
// sooner and what is smaller later.
func TestForecastDelay(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		f    Forecast
		want float64 // minutes
	}{
		{Forecast{1.5, [2]float64{1.5, 1.25}}, 15},
		{Forecast{1.25, [2]float64{1.5, 1.25}}, 60},
		{Forecast{2, [2]float64{math.Sqrt2, nan}}, 15. / 4},
		{Forecast{1.3, [2]float64{inf, 1.3}}, 60},
		{Forecast{1.5, [2]float64{inf, inf}}, inf},
	} {
		if got := tt.f.Delay() / 60; math.Abs(got-tt.want) > 0.01 && got != tt.want {
			t.Errorf("%+v: %.2f min, want %.2f", tt.f, got, tt.want)
		}
	}
	between := Forecast{1.4, [2]float64{1.5, 1.25}}.Delay() / 60
	if between <= 15 || between >= 60 {
		t.Errorf("between the two figures: %.1f min", between)
	}
}

// TestScoreForecasts lays what was said beside what was found.
func TestScoreForecasts(t *testing.T) {
	of := func(size, soon, late, toPage, toTicket float64) Detection {
		return Detection{Incident: Incident{Forecast: &Forecast{size, [2]float64{soon, late}}}, ToPage: toPage, ToTicket: toTicket}
	}
	got := scoreForecasts([]Detection{
		of(1.5, 1.4, 1.2, 600, 300),           // a page, as was said
		of(1.5, 1.6, 1.3, math.Inf(1), 60),    // said to be seen within an hour, and was not paged
		of(1.3, 1.4, 1.25, math.Inf(1), 1800), // too small to page: its ticket counts
		{Incident: Incident{}},                // of which nothing is said
		{Incident: Incident{Forecast: &Forecast{1.5, [2]float64{math.NaN(), math.NaN()}}}, ToPage: 1},
	})
	want := ForecastScore{Incidents: 3, ForecastSoon: 1. / 3, FoundSoon: 1. / 3, ForecastLate: 1, FoundLate: 2. / 3}
	if got == nil || got.MedianReplayed == nil || *got.MedianReplayed != 1800 || got.MedianForecast == nil {
		t.Fatalf("scored %+v", got)
	}
	got.MedianForecast, got.MedianReplayed = nil, nil
	if *got != want {
		t.Errorf("scored %+v, want %+v", *got, want)
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
	if f := all[0].Forecast; f == nil || f.Size != 2 {
		t.Errorf("forecast %+v of the fault of all turns", f)
	}
	if all[1].Forecast != nil {
		t.Errorf("forecast %+v of the fault of some turns", all[1].Forecast)
	}
}
