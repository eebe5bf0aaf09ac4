package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/model"

	"synthetic/internal/backtest"
	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/review"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/internal/turnlog"
)

type objectivesFlags struct {
	since                 string
	turns, more           []string
	prometheusURL         string
	httpConfig, stateFile string
	configFile            string
}

func addObjectives(app *kingpin.Application) command {
	f := &objectivesFlags{}
	c := app.Command("objectives", `Propose objectives that the targets have kept.

It reads the history of each target and workload, and prints slos for the
configuration: the lowest TTFT and TPOT that 99 % of the turns keep, and the share of
turns that succeed. If 99 % would only describe rare outliers, it proposes 95 % or 90 %.
The target has kept a proposal in 95 % of the weeks with at least half of the budget
left; with less than four weeks of history, on 95 % of the days. Comments say how much
history there was, on how many days the target missed the present and the proposed
objectives, and how many pages they would have caused. The pages of an objective that is
missed every day tell nothing new: change it, or improve the target. Examples:
  synthetic objectives --state.file=/var/lib/synthetic/state
  synthetic objectives --turns turns*.zst --config.file=synthetic.yml
  synthetic objectives --prometheus.url=http://prometheus:9090 --since=28d`)
	c.Flag("since", "How far to look back from the last turn.").Default("28d").StringVar(&f.since)
	c.Flag("turns", "A log of turns, as written by run --turns.file: plain, .gz or .zst; may be repeated. The most exact source.").PlaceHolder("FILE").StringsVar(&f.turns)
	c.Flag("prometheus.url", "A Prometheus that scrapes the sidecar, with classic histograms. A latency counts as the upper bound of its bucket.").StringVar(&f.prometheusURL)
	c.Flag("http.config.file", "File with passwords and certificates for the Prometheus, in the format of its <http_config>.").StringVar(&f.httpConfig)
	c.Flag("state.file", "The state file of the sidecar, which keeps the counts of 90 days beside it. They are by day, so pages cannot be counted. The sidecar may run.").StringVar(&f.stateFile)
	c.Flag("config.file", "The configuration with the present objectives; other targets are left out. Default: all targets, and the default objectives.").StringVar(&f.configFile)
	c.Arg("file", "More files for --turns, so that a shell can expand --turns turns*.zst.").StringsVar(&f.more)
	return command{c, f.run}
}

func (f *objectivesFlags) run(ctx context.Context, e env) error {
	since, err := model.ParseDuration(f.since)
	if err != nil || since == 0 {
		return usagef("--since=%q: write a time such as 28d or 24h", f.since)
	}
	current, configured := backtest.Objectives(), func(job probe.Key) (probe.Key, bool) { return job, true }
	if f.configFile != "" {
		cfg, err := config.Load(f.configFile)
		if err != nil {
			return err
		}
		current = cfg.SLOs
		configured = func(job probe.Key) (probe.Key, bool) { return configuredJob(cfg, job) }
	}
	h, err := f.read(ctx, time.Duration(since))
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(e.stderr, "synthetic: interrupted before all turns were read")
		return errInterrupted
	}
	if err != nil {
		return err
	}
	var all, written []review.Proposal
	for _, job := range slices.SortedFunc(maps.Keys(h.Jobs), probe.Key.Compare) {
		key, ok := configured(job)
		if !ok || len(h.Jobs[job]) == 0 {
			continue
		}
		covering := slices.DeleteFunc(slices.Clone(current), func(o slo.Objective) bool { return !o.CoversJob(key.Target, key.Workload) })
		for _, p := range h.Propose(job, covering) {
			all = append(all, p)
			p.Job = key
			written = addLoosest(written, p)
		}
	}
	if len(all) == 0 {
		return usagef("%s has no turns of %s to judge: name a longer --since or another source; days counted by an older version of the sidecar have no latencies", h.Source, f.judged())
	}
	printProposals(e.stdout, h, all, written)
	return nil
}

// configuredJob returns the job of the configuration that a job belongs to: discovered targets and targets of
// several models are called TARGET/NAME.
func configuredJob(cfg *config.Config, job probe.Key) (probe.Key, bool) {
	for {
		if slices.ContainsFunc(cfg.Jobs, func(j sink.Job) bool { return j.Key() == job }) {
			return job, true
		}
		at := strings.LastIndexByte(job.Target, '/')
		if at < 0 {
			return job, false
		}
		job.Target = job.Target[:at]
	}
}

// addLoosest adds a proposal for a job and an SLI. If there is one already, it keeps the looser one, and
// none if either proposes nothing.
func addLoosest(all []review.Proposal, p review.Proposal) []review.Proposal {
	at := slices.IndexFunc(all, func(o review.Proposal) bool { return o.Job == p.Job && o.SLI == p.SLI })
	if at < 0 {
		return append(all, p)
	}
	if a, b := all[at].Proposed, p.Proposed; a == nil || b == nil {
		all[at].Proposed = nil
	} else {
		loosest := *a
		loosest.Threshold, loosest.Objective.Objective = max(a.Threshold, b.Threshold), min(a.Objective.Objective, b.Objective.Objective)
		all[at].Proposed = &loosest
	}
	return all
}

func (f *objectivesFlags) judged() string {
	if f.configFile != "" {
		return "the targets in " + f.configFile
	}
	return "any target"
}

// read reads the history from the only source that the flags name.
func (f *objectivesFlags) read(ctx context.Context, since time.Duration) (h *review.History, err error) {
	sources := 0
	for _, given := range []bool{f.turns != nil, f.prometheusURL != "", f.stateFile != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources == 0 && f.more != nil:
		return nil, usagef("%q: give a log of turns with --turns=%s", f.more[0], f.more[0])
	case sources != 1:
		return nil, usagef("name one source of turns: --turns, --prometheus.url, or --state.file of the sidecar")
	case f.prometheusURL != "":
		client, err := prometheusClient(f.prometheusURL, f.httpConfig)
		if err != nil {
			return nil, err
		}
		return review.HistoryFromPrometheus(ctx, f.prometheusURL, client, since, time.Now())
	case f.stateFile != "":
		h, err = review.HistoryFromState(f.stateFile, since, time.Now())
	default:
		var log *turnlog.Log
		if log, err = turnlog.Open(slices.Concat(f.turns, f.more)); err == nil {
			h, err = review.HistoryFromTurns(ctx, log, since)
		}
	}
	if err != nil {
		return nil, usageError{err}
	}
	return h, nil
}

// printProposals prints the slos of a configuration, with a comment for each job.
func printProposals(w io.Writer, h *review.History, all, written []review.Proposal) {
	fmt.Fprintf(w, "# Proposed from %s.\n", h.Source)
	for i, p := range all {
		if i == 0 || p.Job != all[i-1].Job {
			fmt.Fprintf(w, "#\n# %s: %s\n", p.Job, confidence(h, p.Job))
		}
		printTried(w, h, p.Job, fmt.Sprintf("%-12s today   ", p.SLI), p.Current)
		printTried(w, h, p.Job, fmt.Sprintf("%-12s proposed", p.SLI), p.Proposed)
	}
	lines := proposedSLOs(written)
	if len(lines) == 0 {
		fmt.Fprintln(w, "# No objective was kept: there are too few turns, or more than 10 % of them fail or are too slow.")
		return
	}
	fmt.Fprintln(w, "slos:")
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}

// confidence says how much history there is.
func confidence(h *review.History, job probe.Key) string {
	days := h.Span(job)
	switch {
	case h.ByWeek(job):
		return fmt.Sprintf("%d days, judged by weeks", days)
	case days < 3:
		return fmt.Sprintf("%s only: a first guess, ask again after a week", count(days, "day"))
	}
	return fmt.Sprintf("%d days, judged by days: surer after 28", days)
}

func printTried(w io.Writer, h *review.History, job probe.Key, label string, t *review.Tried) {
	if t == nil {
		fmt.Fprintf(w, "#   %s none\n", label)
		return
	}
	target := review.Percent(t.Objective.Objective)
	if t.Threshold > 0 {
		target += " <= " + review.FormatThreshold(t.Threshold)
	}
	pages := ""
	if t.Pages.OK {
		pages = fmt.Sprintf(", %s if none is held back", count(t.Pages.V, "page"))
	}
	fmt.Fprintf(w, "#   %s %-15s missed on %d of %d days%s\n", label, target, t.MissedDays, h.Span(job), pages)
}

// proposedSLOs returns the lines of the configuration for the proposed objectives.
func proposedSLOs(all []review.Proposal) (lines []string) {
	list := func(names []string) string {
		var out []string
		for _, name := range names {
			out = append(out, quoted(name))
		}
		return strings.Join(out, ", ")
	}
	for _, o := range review.Objectives(all) {
		line := fmt.Sprintf("  - {name: %s, sli: %s, ", o.Name, o.SLI)
		if o.Threshold > 0 {
			line += "threshold: " + review.FormatThreshold(o.Threshold) + ", "
		}
		line += "objective: " + review.Percent(o.Objective)
		if o.Targets != nil {
			line += ", targets: [" + list(o.Targets) + "]"
		}
		if o.Workloads != nil {
			line += ", workloads: [" + list(o.Workloads) + "]"
		}
		lines = append(lines, line+"}")
	}
	return lines
}
