package backtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
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
	WarmUp time.Duration
	// From and To cut the scored time; zero means from the end of the warm-up to the last turn. Baselines learn
	// from all turns before From.
	From, To       time.Time
	ScrapeInterval time.Duration
}

// Run replays the log. The report has the scores of each rule file: over all targets, for each target, and for
// each alert. progress may be nil.
func (r TurnReplay) Run(ctx context.Context, progress Progress) (Report, error) {
	sets, err := LoadRuleFiles(r.Files)
	if err != nil {
		return Report{}, err
	}
	from, to := r.scoredRange()
	src, err := newTurnSource(r.Log, r.Survey, r.Jobs, r.ScrapeInterval)
	if err != nil {
		return Report{}, err
	}
	defer src.Close()
	tell := func(at time.Time) { progress.tell(at, r.Survey.First, to) }
	if err := src.warmUp(ctx, from, tell); err != nil {
		return Report{}, err
	}
	out := Report{Settings: r.settings()}
	out.Scores, out.Partial, err = scoreRun(ctx, "replayed", src, sets, Outcome{Incidents: r.scoredIncidents(), Targets: r.Survey.Targets()}, from, to, tell)
	if err != nil {
		return Report{}, err
	}
	out.Forecasts, err = src.sidecar.Forecasts()
	return out, err
}

func (r TurnReplay) scoredRange() (from, to time.Time) {
	from, to = r.Survey.First.Add(r.WarmUp), r.Survey.Last
	if !r.From.IsZero() {
		from = r.From
	}
	if !r.To.IsZero() {
		to = earlier(r.To, to)
	}
	return from, to
}

// scoredIncidents returns the incidents that began in the scored time.
func (r TurnReplay) scoredIncidents() []Incident {
	from, to := r.scoredRange()
	return slices.DeleteFunc(slices.Clone(r.Incidents), func(i Incident) bool { return i.From.Before(from) || !i.From.Before(to) })
}

// Check returns an error if nothing is left to score, or an incident has an unknown target.
func (r TurnReplay) Check() error {
	from, to := r.scoredRange()
	ends := r.Survey.First.Add(r.WarmUp)
	switch {
	case from.Before(ends):
		return fmt.Errorf("--from=%s: the warm-up ends at %s; give a later --from or a shorter --warm-up", from.Format(time.RFC3339), ends.Format(time.RFC3339))
	case !from.Before(to) && r.From.IsZero() && r.To.IsZero():
		return fmt.Errorf("the log lasts %s and the warm-up %s, so nothing is left to score; give a longer log or a shorter --warm-up",
			duration(to.Sub(r.Survey.First).Seconds()), slo.FormatDuration(r.WarmUp))
	case !from.Before(to):
		return fmt.Errorf("nothing is left to score between %s and %s; the log has turns from %s to %s, of which the first %s are the warm-up",
			from.Format(time.RFC3339), to.Format(time.RFC3339), r.Survey.First.Format(time.RFC3339), r.Survey.Last.Format(time.RFC3339), slo.FormatDuration(r.WarmUp))
	}
	for _, i := range r.Incidents {
		if i.Target != "" && !slices.Contains(r.Survey.Targets(), i.Target) {
			return fmt.Errorf("line %d of the incidents: the incident %q has the target %q, but the log has only the targets %q", i.Line, i.Name, i.Target, r.Survey.Targets())
		}
	}
	return nil
}

// settings describe the replay in words.
func (r TurnReplay) settings() []string {
	from, to := r.scoredRange()
	lines := []string{
		fmt.Sprintf("a log of %d turns of %d targets; scored from %s to %s, after %s in which baselines are learned",
			r.Survey.Turns, len(r.Survey.Targets()), from.Format(time.RFC3339), to.Format(time.RFC3339), slo.FormatDuration(from.Sub(r.Survey.First).Round(time.Minute))),
		fmt.Sprintf("%d of %d labelled incidents began in that time", len(r.scoredIncidents()), len(r.Incidents)),
	}
	for _, j := range r.Survey.Jobs {
		lines = append(lines, fmt.Sprintf("%s: %.3g conversations and %.3g turns a minute", j.Key, j.ConversationsPerMinute, j.TurnsPerMinute))
	}
	return lines
}
