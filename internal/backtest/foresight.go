package backtest

import (
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
)

// Forecast is what was exported, just before a fault, of what can be seen.
type Forecast struct {
	// Size is that of the fault, a ratio.
	Size float64
	// Least are the ratios that are said to be found within 15 minutes and within an
	// hour, of the kind of turn that sees more; NaN where nothing was said.
	Least [2]float64
}

// Known says that something was said.
func (f Forecast) Known() bool { return f.Least[0] >= 1 || f.Least[1] >= 1 }

// within are the times that forecasts are for, with the labels of their series.
func within() map[string]int { return map[string]int{"15m": 0, "1h": 1} }

const (
	soon = 15 * time.Minute
	late = time.Hour
)

// Delay is how long it takes to find the fault if the forecast is right, in
// seconds: a power of the logarithm of its size through the two figures that there
// are, or the square where there is one. Evidence grows with time and with the
// square of what there is to see.
func (f Forecast) Delay() float64 {
	size, a, b := math.Log(f.Size), math.Log(f.Least[0]), math.Log(f.Least[1])
	power := 2.
	if a > b && b > 0 && !math.IsInf(a, 1) {
		power = min(4, max(1, math.Log(late.Seconds()/soon.Seconds())/math.Log(a/b)))
	}
	if a > 0 && !math.IsInf(a, 1) && (size >= a || math.IsNaN(b)) {
		return soon.Seconds() * math.Pow(a/size, power)
	}
	return late.Seconds() * math.Pow(b/size, power)
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
	families, err := s.recorder.Only(func(name string) bool { return name == metrics.Detectable }).Gather()
	if err != nil {
		return nil, err
	}
	out := &Forecast{Size: f.Size, Least: [2]float64{math.NaN(), math.NaN()}}
	for _, family := range families {
		for _, m := range family.Metric {
			if labelOf(m, metrics.LabelTarget) != target || labelOf(m, metrics.LabelSignal) != string(signal) {
				continue
			}
			least := &out.Least[within()[labelOf(m, metrics.LabelWithin)]]
			if v := m.GetGauge().GetValue(); v >= 1 && !(*least <= v) {
				*least = v
			}
		}
	}
	return out, nil
}

// signal is what a fault of all turns moves; "" for other faults.
func (f Fault) signal() regression.Signal {
	switch {
	case f.Share != 0 || f.Ramp != 0:
		return ""
	case f.Kind == Slow:
		return regression.TTFT
	case f.Kind == SlowDecode:
		return regression.TPOT
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

// ForecastScore lays what was said to be seen beside what was found, of one kind
// of fault. Shares are of the incidents of which something was said.
type ForecastScore struct {
	Incidents int `json:"incidents"`
	// The median delays, in seconds, as forecast and as replayed; missed ones are at
	// +Inf (null).
	MedianForecast *float64 `json:"median_forecast_seconds"`
	MedianReplayed *float64 `json:"median_replayed_seconds"`
	// Forecast and Found within 15 minutes and within an hour.
	ForecastSoon float64 `json:"share_forecast_within_15m"`
	FoundSoon    float64 `json:"share_found_within_15m"`
	ForecastLate float64 `json:"share_forecast_within_1h"`
	FoundLate    float64 `json:"share_found_within_1h"`
}

// scoreForecasts scores those detections that have a forecast; nil if none has.
func scoreForecasts(detections []Detection) *ForecastScore {
	var forecast, replayed []float64
	var s ForecastScore
	add := func(to *float64, yes bool) {
		if yes {
			*to++
		}
	}
	for _, d := range detections {
		f := d.Incident.Forecast
		if f == nil || !f.Known() {
			continue
		}
		took := d.delay(f.Size)
		forecast, replayed = append(forecast, f.Delay()), append(replayed, took)
		add(&s.ForecastSoon, f.Size >= f.Least[0])
		add(&s.FoundSoon, took <= soon.Seconds())
		add(&s.ForecastLate, f.Size >= f.Least[1])
		add(&s.FoundLate, took <= late.Seconds())
	}
	if s.Incidents = len(forecast); s.Incidents == 0 {
		return nil
	}
	for _, share := range []*float64{&s.ForecastSoon, &s.FoundSoon, &s.ForecastLate, &s.FoundLate} {
		*share /= float64(s.Incidents)
	}
	s.MedianForecast, s.MedianReplayed = finite(quantile(forecast, 0.5)), finite(quantile(replayed, 0.5))
	return &s
}

// delay is how long it took to find a fault of a size: what is too small to page
// is found by a ticket.
func (v Detection) delay(size float64) float64 {
	if size < regression.DefaultPolicy().PageRatio {
		return v.ToEither()
	}
	return v.ToPage
}
