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
	// Jobs are what the turns are judged by; turns of others are left out.
	Jobs  []sink.Job
	Files []RuleFile
	// Incidents are what was wrong. Without any, every page is for nothing.
	Incidents []Incident
	// WarmUp is the time from the first turn on in which baselines are learned and
	// nothing is scored.
	WarmUp         time.Duration
	ScrapeInterval time.Duration
}

// Run replays the log and returns the scores: of each rule file over all targets,
// for each target, and of each alert.
func (r TurnReplay) Run(ctx context.Context) ([]Score, error) {
	sets, err := LoadRuleFiles(r.Files)
	if err != nil {
		return nil, err
	}
	from, to := r.scored()
	src, err := NewTurns(r.Log, r.Jobs, r.Survey.First, r.ScrapeInterval)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if err := src.WarmUp(ctx, from); err != nil {
		return nil, err
	}
	spans, err := Run(ctx, src, sets, from, to)
	if err != nil {
		return nil, err
	}
	incidents := r.incidents()
	run := Outcome{Days: to.Sub(from).Hours() / 24, Spans: spans, Incidents: incidents, Targets: r.Survey.Targets()}
	return ScoreSets("replayed", sets, incidentNames(incidents), []Outcome{run}), nil
}

// scored is the time that is scored.
func (r TurnReplay) scored() (from, to time.Time) { return r.Survey.First.Add(r.WarmUp), r.Survey.Last }

// incidents are those that began in the time that is scored.
func (r TurnReplay) incidents() []Incident {
	from, to := r.scored()
	return slices.DeleteFunc(slices.Clone(r.Incidents), func(i Incident) bool { return i.From.Before(from) || !i.From.Before(to) })
}

// Check refuses what would be scored without meaning.
func (r TurnReplay) Check() error {
	from, to := r.scored()
	if !from.Before(to) {
		return fmt.Errorf("the log lasts %s, of which %s are the warm-up: nothing is left to be scored; give a longer log, or a shorter --warm-up",
			to.Sub(r.Survey.First).Round(time.Minute), r.WarmUp)
	}
	for _, i := range r.Incidents {
		if i.Target != "" && !slices.Contains(r.Survey.Targets(), i.Target) {
			return fmt.Errorf("the incident %q is of the target %q; the log has the targets %q", i.Name, i.Target, r.Survey.Targets())
		}
	}
	return nil
}

// Settings say in words what was replayed.
func (r TurnReplay) Settings() []string {
	from, to := r.scored()
	lines := []string{
		fmt.Sprintf("a log of %d turns of %d targets; scored from %s to %s, after %s in which baselines are learned",
			r.Survey.Turns, len(r.Survey.Targets()), from.Format(time.RFC3339), to.Format(time.RFC3339), r.WarmUp),
		fmt.Sprintf("%d of %d labelled incidents began in that time", len(r.incidents()), len(r.Incidents)),
	}
	for _, j := range r.Survey.Jobs {
		lines = append(lines, fmt.Sprintf("%s: %.3g conversations and %.3g turns a minute", j.Key, j.ConversationsPerMinute, j.TurnsPerMinute))
	}
	return lines
}
