package main

import (
	"context"
	"slices"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/backtest"
	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/internal/turnlog"
)

// turnsFlags choose a log of turns to replay.
type turnsFlags struct{ files, more []string }

func (f *turnsFlags) add(c *kingpin.CmdClause) {
	c.Flag("turns", "A log of turns to replay, as written by run --turns.file: plain, .gz or .zst; may be repeated. Targets that --config.file does not name are judged by the default SLOs.").PlaceHolder("FILE").StringsVar(&f.files)
	c.Arg("file", "More files for --turns, so that a shell can expand --turns turns*.zst.").StringsVar(&f.more)
}

func (f *turnsFlags) given() bool { return len(f.files) > 0 }

// scoreTurns replays a log of turns.
func (f *backtestFlags) scoreTurns(ctx context.Context, cfg configured, progress *replayProgress) (backtest.Report, error) {
	from, to, err := f.recorded.span(cfg.location)
	if err != nil {
		return backtest.Report{}, err
	}
	incidents, err := f.recorded.readIncidents(cfg.location)
	if err != nil {
		return backtest.Report{}, err
	}
	log, err := turnlog.Open(slices.Concat(f.turns.files, f.turns.more))
	if err != nil {
		return backtest.Report{}, usagef("--turns: %w", err)
	}
	survey, err := backtest.SurveyTurns(ctx, log, cfg.SLOs, progress.read)
	if err != nil {
		return backtest.Report{}, usagef("--turns: %w", err)
	}
	jobs, in := cfg.jobsAndRules(survey)
	files, err := f.files(in)
	if err != nil {
		return backtest.Report{}, err
	}
	replay := backtest.TurnReplay{
		Log: log, Survey: survey, Jobs: jobs, Files: files, Incidents: incidents,
		WarmUp: time.Duration(f.warmUpDays) * 24 * time.Hour, From: from, To: to, ScrapeInterval: f.scrape,
	}
	if err := replay.Check(); err != nil {
		return backtest.Report{}, usagef("--turns: %w", err)
	}
	return replay.Run(ctx, progress.replayed)
}

// jobsAndRules returns the jobs of the log and the input of their rules. Jobs that the
// configuration does not name are defined by the log. The jobs of the log share the false pages
// that the policy allows.
func (cfg configured) jobsAndRules(survey backtest.Survey) ([]sink.Job, rules.Input) {
	configured := map[probe.Key]sink.Job{}
	for _, j := range cfg.jobs {
		configured[j.Key()] = j
	}
	policy := cfg.policy
	policy.FalsePages /= float64(max(1, len(survey.Jobs)))
	in := cfg.Input
	in.Jobs = nil
	var jobs []sink.Job
	for _, s := range survey.Jobs {
		job, ok := configured[s.Key]
		if !ok {
			job = s.Job(cfg.SLOs, policy)
		}
		job.Policy = policy
		jobs = append(jobs, job)
		i := slices.IndexFunc(cfg.Jobs, func(j rules.Job) bool { return j.Target == s.Key.Target && j.Workload == s.Key.Workload })
		if i >= 0 {
			in.Jobs = append(in.Jobs, cfg.Jobs[i])
			continue
		}
		in.Jobs = append(in.Jobs, rules.Job{
			Target: s.Key.Target, Workload: s.Key.Workload, TurnTimeout: s.Timeouts.Total,
			ConversationsPerMinute: s.ConversationsPerMinute, TurnsPerMinute: s.TurnsPerMinute,
		})
	}
	// An SLO whose targets are not in the log would only add rules without data.
	in.SLOs = slices.DeleteFunc(slices.Clone(in.SLOs), func(o slo.Objective) bool {
		return !slices.ContainsFunc(in.Jobs, func(j rules.Job) bool { return o.CoversJob(j.Target, j.Workload) })
	})
	return jobs, in
}
