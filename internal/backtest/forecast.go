package backtest

import "math"

// ForecastScore compares predicted with measured delays until a page, for one kind of
// fault. The medians are in seconds; null where the median incident was missed.
type ForecastScore struct {
	// Incidents counts the incidents that had a forecast.
	Incidents      int      `json:"incidents"`
	MedianForecast *float64 `json:"median_forecast_seconds"`
	MedianReplayed *float64 `json:"median_replayed_seconds"`
}

// scoreForecasts scores the incidents with a forecast; it returns nil without any.
func scoreForecasts(detections []detection) *ForecastScore {
	var forecast, replayed []float64
	for _, d := range detections {
		if f := d.Incident.Forecast; f != nil && !math.IsNaN(*f) {
			forecast, replayed = append(forecast, *f), append(replayed, d.ToPage)
		}
	}
	if len(forecast) == 0 {
		return nil
	}
	return &ForecastScore{len(forecast), quantile(forecast, 0.5), quantile(replayed, 0.5)}
}
