package backtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"synthetic/internal/sidecar/sink"
	"synthetic/internal/turnlog"
)

// TurnReplay scores rule files on a log of turns.
type TurnReplay struct {
	Log    *turnlog.Log
	Survey Survey
	// Jobs judge the turns; turns of other jobs are ignored.
	Jobs  []sink.Job
	Files []RuleFile
	// Incidents are the known incidents. Without any, every page is false.
	Incidents []Incident
	// WarmUp is the time after the first turn during which the sidecar only learns baselines.
	WarmUp         time.Duration
	ScrapeInterval time.Duration
}

// Run replays the log and returns the scores of each rule file: over all targets, for each
// target, and for each alert.
func (r TurnReplay) Run(ctx context.Context) ([]Score, error) {
	sets, err := LoadRuleFiles(r.Files)
	if err != nil {
		return nil, err
	}
	from, to := r.scoredRange()
	src, err := newTurnSource(r.Log, r.Jobs, r.Survey.First, r.ScrapeInterval)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if err := src.warmUp(ctx, from); err != nil {
		return nil, err
	}
	return scoreRun(ctx, "replayed", src, sets, Outcome{Incidents: r.scoredIncidents(), Targets: r.Survey.Targets()}, from, to)
}

func (r TurnReplay) scoredRange() (from, to time.Time) {
	return r.Survey.First.Add(r.WarmUp), r.Survey.Last
}

// scoredIncidents returns the incidents that began in the scored time.
func (r TurnReplay) scoredIncidents() []Incident {
	from, to := r.scoredRange()
	return slices.DeleteFunc(slices.Clone(r.Incidents), func(i Incident) bool { return i.From.Before(from) || !i.From.Before(to) })
}

// Check returns an error if nothing is left to score, or an incident has an unknown target.
func (r TurnReplay) Check() error {
	from, to := r.scoredRange()
	if !from.Before(to) {
		return fmt.Errorf("the log lasts %s and the warm-up %s, so nothing is left to score; give a longer log or a shorter --warm-up",
			to.Sub(r.Survey.First).Round(time.Minute), r.WarmUp)
	}
	for _, i := range r.Incidents {
		if i.Target != "" && !slices.Contains(r.Survey.Targets(), i.Target) {
			return fmt.Errorf("the incident %q has the target %q, but the log has only the targets %q", i.Name, i.Target, r.Survey.Targets())
		}
	}
	return nil
}

// Settings describe the replay in words.
func (r TurnReplay) Settings() []string {
	from, to := r.scoredRange()
	lines := []string{
		fmt.Sprintf("a log of %d turns of %d targets; scored from %s to %s, after %s in which baselines are learned",
			r.Survey.Turns, len(r.Survey.Targets()), from.Format(time.RFC3339), to.Format(time.RFC3339), r.WarmUp),
		fmt.Sprintf("%d of %d labelled incidents began in that time", len(r.scoredIncidents()), len(r.Incidents)),
	}
	for _, j := range r.Survey.Jobs {
		lines = append(lines, fmt.Sprintf("%s: %.3g conversations and %.3g turns a minute", j.Key, j.ConversationsPerMinute, j.TurnsPerMinute))
	}
	return lines
}
