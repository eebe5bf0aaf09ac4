package figures

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
	"synthetic/internal/turnlog"
)

// isTurnLog recognises a turn log, plain or compressed, by its first bytes.
func isTurnLog(data []byte) bool {
	heads := []string{"{\"at\":", "\x28\xb5\x2f\xfd", "\x1f\x8b"}
	return slices.ContainsFunc(heads, func(head string) bool { return bytes.HasPrefix(data, []byte(head)) })
}

func parseTurnLog(path string, data []byte) (*Study, error) {
	r, err := turnlog.NewReader(path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	run, err := runfile.FromTurns(r.NextLine)
	if err != nil {
		return nil, err
	}
	s := FromRuns([]*runfile.Run{run})
	s.Run, s.Turns = run, path
	s.Method = slices.DeleteFunc(s.Method, func(p runfile.Parameter) bool {
		return !slices.Contains([]string{"Variants", "Concurrency levels", "Rates", "Metric source"}, p.Name)
	})
	s.Notes = append(s.Notes, "These figures come from a turn log alone, which lacks the gaps between tokens, the server's own metrics and the prober's lateness.")
	return s, nil
}

// Recount judges all turns of the run again, by objectives other than the run's own. It returns
// false if the turn log is missing or lacks values that these objectives need.
func (s *Study) Recount(wanted []Objective) (bool, error) {
	var objectives []runfile.Objective
	for _, o := range wanted {
		sli, ok := map[Timing]slo.SLI{TTFT: slo.TTFT, AnswerTTFT: slo.AnswerTTFT, TPOT: slo.TPOT, Latency: slo.TurnDuration}[o.Timing]
		counted := runfile.Objective{Name: o.Name, SLI: sli, ThresholdSeconds: o.Threshold / 1000, Objective: o.Share / 100}
		switch o.Turns {
		case AllTurns:
		case FirstTurns, FollowupTurns:
			counted.Turns = []probe.TurnKind{probe.TurnKind(o.Turns)}
		default:
			ok = false
		}
		if !ok {
			return false, nil
		}
		objectives = append(objectives, counted)
	}
	if s.Run == nil || s.Turns == "" {
		return false, nil
	}
	file, err := os.Open(s.Turns)
	if err != nil {
		return false, fmt.Errorf("counting turns: %w", err)
	}
	defer file.Close()
	r, err := turnlog.NewReader(s.Turns, file)
	if err != nil {
		return false, err
	}
	defer r.Close()
	if err := s.Run.Recount(r.NextLine, objectives); err != nil {
		return false, fmt.Errorf("%s: %w", s.Turns, err)
	}
	judge := stats.NewJudge(s.Run)
	for i := range s.Run.Results {
		if x := &s.Run.Results[i]; !x.GaveUp() {
			x.Verdict = judge.Conclude(s.Run, *x)
		}
	}
	counted := FromRuns([]*runfile.Run{s.Run})
	s.Series, s.Capacities, s.Objectives, s.Counted = counted.Series, counted.Capacities, wanted, true
	return true, nil
}
