package backtest

import (
	"math"
	"testing"
)

func TestScoreForecasts(t *testing.T) {
	detected := func(forecast, toPage float64) detection {
		return detection{Incident: Incident{Forecast: &forecast}, ToPage: toPage}
	}
	got := scoreForecasts([]detection{
		detected(600, 300), detected(math.Inf(1), math.Inf(1)), detected(500, 900), detected(math.NaN(), 1), {Incident: Incident{}},
	})
	if got == nil || got.Incidents != 3 || *got.MedianForecast != 600 || *got.MedianReplayed != 900 {
		t.Errorf("scored %+v", got)
	}
	if scoreForecasts(nil) != nil {
		t.Error("a score without detections")
	}
}
