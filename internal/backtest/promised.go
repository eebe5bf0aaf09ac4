package backtest

import (
	"fmt"
	"io"
	"strings"
)

// claim is a line of what the generated rules are to reach.
type claim struct {
	what, bound string
	// show is the figure of one noise model.
	show func(Score) string
}

func claims() []claim {
	return []claim{
		{"False pages per 30 days", "≤ 0.5 quiet, ≤ 1 typical", func(s Score) string {
			return fmt.Sprintf("%s (%d in %.0f days)", number(s.FalsePer30Days, 1, "%.2f"), s.HealthyPages, s.HealthyDays)
		}},
		{"TTFT ×3, median to page", "≤ 2.5 min", median("TTFT ×3")},
		{"TTFT ×3, p90", "≤ 4 min", func(s Score) string { return minutes(of(s, "TTFT ×3").P90ToPage) }},
		{"TTFT ×2, median", "≤ 6 min", median("TTFT ×2")},
		{"TTFT ×1.3, median", "≤ 35 min", median("TTFT ×1.3")},
		{"TTFT ×1.3, recall", "≥ 95 % quiet, ≥ 70 % typical", recall("TTFT ×1.3")},
		{"15 % of turns ×4, recall within 40 min", "≥ 90 % quiet", recall("TTFT ×4 of 15 % of turns")},
		{"Outage, median (p90)", "≤ 2 min", medianAndP90("outage")},
		{"Hang, median (p90), its 30 s timeout included", "≤ 2 min", medianAndP90("hang")},
		{"Resolved after the end, highest median of all faults", "≤ 10 min", slowestResolve},
	}
}

// WritePromised lays the figures of the generated rules on the models quiet and
// typical beside what they are to reach, as Markdown.
func (r Report) WritePromised(w io.Writer) error {
	quiet, err := r.generated("quiet")
	if err != nil {
		return err
	}
	typical, err := r.generated("typical")
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("| | Promised | quiet | typical |\n|---|---|---|---|\n")
	for _, c := range claims() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.what, c.bound, c.show(quiet), c.show(typical))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// generated is the score of the generated rules as one pager.
func (r Report) generated(model string) (Score, error) {
	for _, s := range r.Scores {
		if s.Model == model && s.Rules == "synthetic" && s.Alert == "" {
			return s, nil
		}
	}
	return Score{}, fmt.Errorf("no score of the generated rules on the noise model %q", model)
}

// of is the score of a fault; the zero value shows as dashes.
func of(s Score, fault string) FaultScore {
	for _, f := range s.Faults {
		if f.Fault == fault {
			return f
		}
	}
	return FaultScore{}
}

func median(fault string) func(Score) string {
	return func(s Score) string { return minutes(of(s, fault).MedianToPage) }
}

func medianAndP90(fault string) func(Score) string {
	return func(s Score) string {
		return fmt.Sprintf("%s (%s)", minutes(of(s, fault).MedianToPage), minutes(of(s, fault).P90ToPage))
	}
}

func recall(fault string) func(Score) string {
	return func(s Score) string {
		f := of(s, fault)
		return fmt.Sprintf("%.0f %% of %d", 100*f.Recall, f.Incidents)
	}
}

func slowestResolve(s Score) string {
	var slowest *float64
	for _, f := range s.Faults {
		if v := f.MedianToResolve; v != nil && (slowest == nil || *v > *slowest) {
			slowest = v
		}
	}
	return minutes(slowest)
}
