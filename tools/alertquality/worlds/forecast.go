package worlds

import (
	"math"
	"strconv"

	"synthetic/internal/sidecar/sink"
)

// keepForecasts keeps the forecasts for the faults that begin before the next scrape.
func (s *Simulation) keepForecasts() error {
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

// forecast returns the delay in seconds until a page that is exported for such a fault.
func (s *Simulation) forecast(target string, f Fault) (*float64, error) {
	signal := f.signal()
	if signal == "" {
		return nil, nil // nothing is exported for faults of some turns, and for failures
	}
	forecasts, err := s.sidecar.Forecasts()
	if err != nil {
		return nil, err
	}
	size, delay := strconv.FormatFloat(f.Size, 'f', -1, 64), math.NaN()
	for _, forecast := range forecasts {
		v, known := forecast.Delay[size]
		switch {
		case !known || forecast.Target != target || forecast.Signal != string(signal):
		case v == nil && math.IsNaN(delay):
			delay = math.Inf(1) // no such rise pages
		case v != nil && !(delay <= *v):
			delay = *v
		}
	}
	return &delay, nil
}

// signal returns the signal that a fault of all turns changes; "" for other faults.
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
