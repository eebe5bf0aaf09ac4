package backtest

import (
	"math"
	"testing"
)

func TestScoreForecasts(t *testing.T) {
	detection := func(forecast, toPage float64) Detection {
		return Detection{Incident: Incident{Forecast: &forecast}, ToPage: toPage}
	}
	got := scoreForecasts([]Detection{
		detection(600, 300), detection(math.Inf(1), math.Inf(1)), detection(500, 900), detection(math.NaN(), 1), {Incident: Incident{}},
	})
	if got == nil || got.Incidents != 3 || *got.MedianForecast != 600 || *got.MedianReplayed != 900 {
		t.Errorf("scored %+v", got)
	}
	if scoreForecasts(nil) != nil {
		t.Error("a score without detections")
	}
}
