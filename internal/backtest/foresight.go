package backtest

import (
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
)

// Forecast is what was exported, just before a fault, of how long it takes to page.
type Forecast struct {
	// Delay is in seconds, of the kind of turn that pages first: +Inf if none does,
	// NaN where nothing was said.
	Delay float64
}

// foresee keeps what is exported before each fault that begins until the next
// scrape.
func (s *Simulation) foresee() error {
	for _, t := range s.traffic {
		for i, inj := range t.injections {
			if inj.From <= s.scraped || inj.From > s.scraped+s.options.ScrapeInterval {
				continue
			}
			f, err := s.forecast(t.target, inj.Fault)
			if err != nil {
				return err
			}
			t.forecasts[i] = f
		}
	}
	return nil
}

// forecast reads what the recorder says of a fault of a target.
func (s *Simulation) forecast(target string, f Fault) (*Forecast, error) {
	signal := f.signal()
	if signal == "" {
		return nil, nil // of part of the turns, and of failures, nothing is said
	}
	families, err := s.prober.recorder.Only(func(name string) bool { return name == metrics.RegressionDelay }).Gather()
	if err != nil {
		return nil, err
	}
	size, out := strconv.FormatFloat(f.Size, 'f', -1, 64), &Forecast{math.NaN()}
	for _, family := range families {
		for _, m := range family.Metric {
			if labelOf(m, metrics.LabelTarget) != target || labelOf(m, metrics.LabelSignal) != string(signal) || labelOf(m, metrics.LabelRatio) != size {
				continue
			}
			if v := m.GetGauge().GetValue(); v >= 0 && !(out.Delay <= v) {
				out.Delay = v
			}
		}
	}
	return out, nil
}

// signal is what a fault of all turns moves; "" for other faults.
func (f Fault) signal() sink.Signal {
	switch {
	case f.Share != 0 || f.Ramp != 0:
		return ""
	case f.Kind == Slow:
		return sink.TTFT
	case f.Kind == SlowDecode:
		return sink.TPOT
	}
	return ""
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.Label {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// ForecastScore lays the delays that were said beside those that came out, of one
// kind of fault: medians in seconds, missed ones at +Inf (null). Incidents are those
// of which something was said.
type ForecastScore struct {
	Incidents      int      `json:"incidents"`
	MedianForecast *float64 `json:"median_forecast_seconds"`
	MedianReplayed *float64 `json:"median_replayed_seconds"`
}

// scoreForecasts scores those detections that have a forecast; nil if none has.
func scoreForecasts(detections []Detection) *ForecastScore {
	var forecast, replayed []float64
	for _, d := range detections {
		if f := d.Incident.Forecast; f != nil && !math.IsNaN(f.Delay) {
			forecast, replayed = append(forecast, f.Delay), append(replayed, d.ToPage)
		}
	}
	if len(forecast) == 0 {
		return nil
	}
	return &ForecastScore{len(forecast), finite(quantile(forecast, 0.5)), finite(quantile(replayed, 0.5))}
}
