package main

import (
	"context"
	"os"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/backtest"
)

// recordedFlags choose recorded series to replay.
type recordedFlags struct {
	tsdb, url, from, to, incidents string
}

func (f *recordedFlags) add(c *kingpin.CmdClause) {
	c.Flag("tsdb.path", "The data directory of a Prometheus to replay. It is only read.").StringVar(&f.tsdb)
	c.Flag("prometheus.url", "The Prometheus to replay, with query_range requests.").StringVar(&f.url)
	c.Flag("from", "Start of the time to score, such as 2026-01-05T00:00:00Z, \"2026-01-05 14:02\" or Unix seconds; without a zone in the timezone of --config.file, or UTC. Default for --turns: the end of the warm-up.").StringVar(&f.from)
	c.Flag("to", "End of the time to score. Default for --turns: the last turn.").StringVar(&f.to)
	c.Flag("incidents", "CSV file of known incidents, one per line: name,start,end, or name,start,end,target if only one target was affected. Times are as for --from. Without this file every page counts as false.").StringVar(&f.incidents)
}

func (f *recordedFlags) given() bool { return f.tsdb != "" || f.url != "" }

func (f *recordedFlags) score(ctx context.Context, files []backtest.RuleFile, step time.Duration, location *time.Location, progress backtest.Progress) (backtest.Report, error) {
	from, to, err := f.span(location)
	switch {
	case err != nil:
		return backtest.Report{}, err
	case from.IsZero() || to.IsZero():
		return backtest.Report{}, usagef("a recording needs --from and --to, for example --from=2026-01-05T00:00:00Z --to=2026-02-04T00:00:00Z")
	}
	incidents, err := f.readIncidents(location)
	if err != nil {
		return backtest.Report{}, err
	}
	sets, err := backtest.LoadRuleFiles(files)
	if err != nil {
		return backtest.Report{}, usageError{err}
	}
	start := from.Add(-backtest.Lookback(sets))
	var src backtest.Source
	if f.tsdb != "" {
		var stop func() error
		if src, stop, err = backtest.OpenBlocks(f.tsdb, start); err != nil {
			return backtest.Report{}, err
		}
		defer stop()
	} else if src, err = backtest.NewRemote(f.url, step, start); err != nil {
		return backtest.Report{}, err
	}
	return backtest.ScoreRecording(ctx, src, sets, incidents, from, to, progress)
}

// span returns the times of --from and --to; zero if the flag is not given.
func (f *recordedFlags) span(location *time.Location) (from, to time.Time, err error) {
	for _, flag := range []struct {
		name, text string
		at         *time.Time
	}{{"from", f.from, &from}, {"to", f.to, &to}} {
		if flag.text == "" {
			continue
		}
		if *flag.at, err = backtest.ParseTime(flag.text, location); err != nil {
			return from, to, usagef("--%s: %w", flag.name, err)
		}
	}
	if !from.IsZero() && !to.IsZero() && !to.After(from) {
		return from, to, usagef("--to=%s: it must be after --from=%s", f.to, f.from)
	}
	return from, to, nil
}

func (f *recordedFlags) readIncidents(location *time.Location) ([]backtest.Incident, error) {
	if f.incidents == "" {
		return nil, nil
	}
	file, err := os.Open(f.incidents)
	if err != nil {
		return nil, usagef("--incidents: %w", err)
	}
	defer file.Close()
	incidents, err := backtest.ReadIncidents(file, location)
	if err != nil {
		return nil, usagef("%s: %w", f.incidents, err)
	}
	return incidents, nil
}
