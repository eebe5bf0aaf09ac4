package backtest

import (
	_ "embed"
	"fmt"
	"io"
)

//go:embed promised.md.tmpl
var promisedTable string

// WritePromised lays the figures of the generated rules on the models quiet and
// typical beside what they are to reach, as Markdown.
func (r Report) WritePromised(w io.Writer) error {
	var scores []Score
	for _, model := range []string{"quiet", "typical"} {
		s, err := r.generated(model)
		if err != nil {
			return err
		}
		scores = append(scores, s)
	}
	return r.write(w, promisedTable, scores)
}

// generated is the score of the generated rules as one pager.
func (r Report) generated(model string) (Score, error) {
	for _, s := range r.scores(model, false) {
		if s.Rules == "synthetic" {
			return s, nil
		}
	}
	return Score{}, fmt.Errorf("no score of the generated rules on the noise model %q", model)
}

// faultScore is the score of a fault; the zero value shows as dashes.
func faultScore(fault string, s Score) FaultScore {
	for _, f := range s.Faults {
		if f.Fault == fault {
			return f
		}
	}
	return FaultScore{}
}

// slowestResolve is the highest median of all faults.
func slowestResolve(s Score) *float64 {
	var slowest *float64
	for _, f := range s.Faults {
		if v := f.MedianToResolve; v != nil && (slowest == nil || *v > *slowest) {
			slowest = v
		}
	}
	return slowest
}
