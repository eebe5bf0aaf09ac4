package backtest

import (
	"cmp"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/sidecar/metrics"
)

// Forecast is the exported prediction of one signal: which rises page, how soon, and how many false pages to expect. A
// map has no entry if the history is too short, and null for a rise that never pages.
type Forecast struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	Turn     string `json:"turn"`
	Signal   string `json:"signal"`
	// Detectable is the smallest ratio to the baseline that pages within a time such as 15m, in half of the cases.
	Detectable map[string]*float64 `json:"detectable_ratio,omitempty"`
	// Delay is the time in seconds until a rise to a ratio such as 1.5 pages, in half of the cases.
	Delay map[string]*float64 `json:"delay_seconds,omitempty"`
	// FalsePages is the expected number of false pages in 30 days; null if unknown.
	FalsePages *float64 `json:"expected_false_pages"`
}

// Forecasts returns the current forecasts, sorted by target, workload, turn and signal.
func (s *Sidecar) Forecasts() ([]Forecast, error) {
	families, err := s.Recorder.Only(func(name string) bool {
		return name == metrics.RegressionDelay || name == metrics.Detectable || name == metrics.ExpectedFalsePages
	}).Gather()
	if err != nil {
		return nil, err
	}
	var out []Forecast
	at := map[[4]string]int{}
	for _, family := range families {
		for _, m := range family.Metric {
			label := labelsOf(m)
			key := [4]string{label[metrics.LabelTarget], label[metrics.LabelWorkload], label[metrics.LabelTurn], label[metrics.LabelSignal]}
			i, known := at[key]
			if !known {
				i = len(out)
				at[key] = i
				out = append(out, Forecast{Target: key[0], Workload: key[1], Turn: key[2], Signal: key[3], Detectable: map[string]*float64{}, Delay: map[string]*float64{}})
			}
			v := m.GetGauge().GetValue()
			switch {
			case math.IsNaN(v):
			case family.GetName() == metrics.RegressionDelay:
				out[i].Delay[label[metrics.LabelRatio]] = finite(v)
			case family.GetName() == metrics.Detectable:
				out[i].Detectable[label["within"]] = finite(v)
			default:
				out[i].FalsePages = finite(v)
			}
		}
	}
	slices.SortFunc(out, func(a, b Forecast) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Signal, b.Signal))
	})
	return out, nil
}

func labelsOf(m *dto.Metric) map[string]string {
	out := map[string]string{}
	for _, l := range m.Label {
		out[l.GetName()] = l.GetValue()
	}
	return out
}
