package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/backtest"
)

// simulated is what the flags want simulated; nothing beside a recording.
func (f *backtestFlags) simulated() (backtest.Scenario, error) {
	if f.recorded.given() {
		if f.scenario != "" {
			return backtest.Scenario{}, usagef("--scenario.file=%s: recorded series have the noise and the faults they have; leave it out, or --tsdb.path and --prometheus.url", f.scenario)
		}
		return backtest.Scenario{}, nil
	}
	own := backtest.Scenario{}
	if f.scenario != "" {
		var err error
		if own, err = backtest.LoadScenario(f.scenario); err != nil {
			return own, err
		}
	}
	models, err := f.chosenModels(own.Models)
	if err != nil {
		return own, err
	}
	faults, err := f.chosenFaults(own.Faults)
	return backtest.Scenario{Models: models, Faults: faults}, err
}

// chosenModels are those of --model, or own ones, or the default.
func (f *backtestFlags) chosenModels(own []backtest.Model) ([]backtest.Model, error) {
	models := slices.Clone(own)
	if len(f.models) > 0 {
		models = nil
	} else if len(own) == 0 {
		models = []backtest.Model{backtest.Quiet(), backtest.Typical()}
	}
	for _, name := range f.models {
		if name == "all" {
			models = append(models, backtest.Models()...)
			continue
		}
		m, err := backtest.ModelNamed(name, own...)
		if err != nil {
			return nil, usageError{err}
		}
		models = append(models, m)
	}
	if f.rate > 0 {
		for i := range models {
			models[i].ConversationsPerMinute = f.rate
		}
	}
	return models, nil
}

// chosenFaults are own ones, or the named ones, as far as --fault wants them.
func (f *backtestFlags) chosenFaults(own []backtest.Fault) ([]backtest.Fault, error) {
	all := own
	if len(all) == 0 {
		all = backtest.Faults()
	}
	var faults []backtest.Fault
	for _, fault := range all {
		wanted := func(part string) bool { return strings.Contains(fault.Name, part) }
		if len(f.faults) == 0 || slices.ContainsFunc(f.faults, wanted) {
			faults = append(faults, fault)
		}
	}
	if len(faults) == 0 {
		return nil, usagef("--fault: no fault has a name with %q", f.faults)
	}
	if err := backtest.Fit(faults, time.Duration(f.days)*24*time.Hour); err != nil {
		return nil, usagef("--days=%d: %w; write more days, or leave the fault out with --fault", f.days, err)
	}
	return faults, nil
}

// recordedFlags say which recording is replayed.
type recordedFlags struct {
	tsdb, url, from, to, incidents string
}

func (f *recordedFlags) add(c *kingpin.CmdClause) {
	c.Flag("tsdb.path", "Replay the data directory of a Prometheus (read only).").StringVar(&f.tsdb)
	c.Flag("prometheus.url", "Replay what this Prometheus answers to query_range.").StringVar(&f.url)
	c.Flag("from", "Start of the recording to score, RFC 3339.").StringVar(&f.from)
	c.Flag("to", "End of the recording to score, RFC 3339.").StringVar(&f.to)
	c.Flag("incidents", "CSV file of what was wrong: name,start,end with RFC 3339 times, and the target where it was not every one. Without it every page counts as false.").StringVar(&f.incidents)
}

func (f *recordedFlags) given() bool { return f.tsdb != "" || f.url != "" }

func (f *recordedFlags) score(ctx context.Context, files []backtest.RuleFile, step time.Duration) (backtest.Report, error) {
	var none backtest.Report
	from, to, err := f.span()
	if err != nil {
		return none, err
	}
	incidents, err := f.readIncidents()
	if err != nil {
		return none, err
	}
	history, err := lookback(files)
	if err != nil {
		return none, err
	}
	var src backtest.Source
	if f.tsdb != "" {
		blocks, err := backtest.OpenBlocks(f.tsdb, from.Add(-history))
		if err != nil {
			return none, err
		}
		defer blocks.Close()
		src = blocks
	} else if src, err = backtest.NewRemote(f.url, step, from.Add(-history)); err != nil {
		return none, err
	}
	scores, err := backtest.ScoreRecording(ctx, src, files, incidents, from, to)
	return backtest.Report{Settings: []string{
		fmt.Sprintf("recorded series from %s to %s, %d labelled incidents", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), len(incidents)),
	}, Scores: scores}, err
}

func (f *recordedFlags) span() (from, to time.Time, err error) {
	if f.tsdb != "" && f.url != "" {
		return from, to, usagef("--tsdb.path and --prometheus.url: replay one of them")
	}
	if from, err = time.Parse(time.RFC3339, f.from); err != nil {
		return from, to, usagef("--from=%q: %w; write for example 2026-01-05T00:00:00Z", f.from, err)
	}
	if to, err = time.Parse(time.RFC3339, f.to); err != nil {
		return from, to, usagef("--to=%q: %w; write for example 2026-02-04T00:00:00Z", f.to, err)
	}
	if !to.After(from) {
		return from, to, usagef("--to=%s: it must be after --from=%s", f.to, f.from)
	}
	return from, to, nil
}

func (f *recordedFlags) readIncidents() ([]backtest.Incident, error) {
	if f.incidents == "" {
		return nil, nil
	}
	file, err := os.Open(f.incidents)
	if err != nil {
		return nil, usagef("--incidents: %w", err)
	}
	defer file.Close()
	incidents, err := backtest.ReadIncidents(file)
	if err != nil {
		return nil, usagef("%s: %w", f.incidents, err)
	}
	return incidents, nil
}

// lookback is how much history the rule files read.
func lookback(files []backtest.RuleFile) (time.Duration, error) {
	longest := time.Duration(0)
	for _, file := range files {
		set, err := backtest.LoadRules(file.Name, file.Text, file.RuleOptions)
		if err != nil {
			return 0, usageError{err}
		}
		longest = max(longest, set.Lookback())
	}
	return longest, nil
}
