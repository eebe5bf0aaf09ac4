package slo

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
)

// written is an objective in files. A file belongs to its targets and workloads, and spends no budget over a window.
type written struct {
	Name             string  `json:"name"`
	SLI              SLI     `json:"sli"`
	ThresholdSeconds float64 `json:"threshold_seconds"`
	Objective        float64 `json:"objective"`
	PerThousand      float64 `json:"seconds_per_1k_uncached_tokens,omitempty"`

	Turns    []probe.TurnKind `json:"turns,omitempty"`
	Uncached Tokens           `json:"uncached_tokens,omitzero"`
}

// MarshalJSON implements json.Marshaler.
func (o Objective) MarshalJSON() ([]byte, error) {
	return json.Marshal(written{o.Name, o.SLI, o.Threshold.Seconds(), o.Objective, o.PerThousand.Seconds(), o.Turns, o.Uncached})
}

// UnmarshalJSON implements json.Unmarshaler. Its errors have no place, which would be one within the objective.
func (o *Objective) UnmarshalJSON(text []byte) error {
	var w written
	if err := json.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("reading an SLO: %w", atomicfile.InJSONTerms("the SLO", err))
	}
	*o = Objective{
		Name: w.Name, SLI: w.SLI, Threshold: FromSeconds(w.ThresholdSeconds), PerThousand: FromSeconds(w.PerThousand),
		Objective: w.Objective, Turns: w.Turns, Uncached: w.Uncached,
	}
	return nil
}

// FromSeconds returns a duration to the nanosecond. It cuts off what a duration cannot hold.
func FromSeconds(s float64) time.Duration {
	const most = 1 << 62 // ns, 146 years
	return time.Duration(min(max(math.Round(s*float64(time.Second)), -most), most))
}
