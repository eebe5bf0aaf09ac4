package main

import (
	"context"
	"fmt"
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
	c.Flag("from", "Start of the time to score in --tsdb.path or --prometheus.url, RFC 3339.").StringVar(&f.from)
	c.Flag("to", "End of the time to score in --tsdb.path or --prometheus.url, RFC 3339.").StringVar(&f.to)
	c.Flag("incidents", "CSV file of known incidents, one per line: name,start,end, or name,start,end,target if only one target was affected. Times are RFC 3339. Without this file every page counts as false.").StringVar(&f.incidents)
}

func (f *recordedFlags) given() bool { return f.tsdb != "" || f.url != "" }

func (f *recordedFlags) score(ctx context.Context, files []backtest.RuleFile, step time.Duration) (backtest.Report, error) {
	from, to, err := f.span()
	if err != nil {
		return backtest.Report{}, err
	}
	incidents, err := f.readIncidents()
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
	scores, err := backtest.ScoreRecording(ctx, src, sets, incidents, from, to)
	return backtest.Report{Settings: []string{
		fmt.Sprintf("recorded series from %s to %s, %d labelled incidents", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), len(incidents)),
	}, Scores: scores}, err
}

func (f *recordedFlags) span() (from, to time.Time, err error) {
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
