package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/backtest"
)

// recordedFlags say which recording is replayed.
type recordedFlags struct {
	tsdb, url, from, to, incidents string
}

func (f *recordedFlags) add(c *kingpin.CmdClause) {
	c.Flag("tsdb.path", "Replay the data directory of a Prometheus (read only).").StringVar(&f.tsdb)
	c.Flag("prometheus.url", "Replay what this Prometheus answers to query_range.").StringVar(&f.url)
	c.Flag("from", "Start of the recording to score, RFC 3339.").StringVar(&f.from)
	c.Flag("to", "End of the recording to score, RFC 3339.").StringVar(&f.to)
	c.Flag("incidents", "CSV file of what was wrong: name,start,end with RFC 3339 times. Without it every page counts as false.").StringVar(&f.incidents)
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
