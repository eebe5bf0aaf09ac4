package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/model"

	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/review"
	reports "synthetic/internal/study/report"
	"synthetic/internal/turnlog"
)

type sloReportFlags struct {
	since                              string
	stateFile, configFile              string
	turns                              []string
	prometheusURL, httpConfig, intoDir string
}

func addSLOReport(parent *kingpin.CmdClause) command {
	f := &sloReportFlags{}
	c := parent.Command("slo", `Review the objectives and incidents of the last days on one page.

It says which objectives were met, which incidents spent their error budgets, how
long faults took to be detected and repaired, which pages were false ("synthetic
incident mark"), and what the probes cost. Examples:
  synthetic report slo --state.file=/var/lib/synthetic/state --since=7d
  synthetic report slo --turns=turns.jsonl --config.file=synthetic.yml --since=30d
  synthetic report slo --prometheus.url=http://prometheus:9090 --since=7d`)
	c.Flag("since", "How far to look back, such as 7d. The kept days and a log of turns are counted by whole days in UTC; a log ends with its last turn.").Default("7d").StringVar(&f.since)
	c.Flag("state.file", "The state file of the sidecar: its days and incidents lie beside it. The sidecar may run. With --turns and --prometheus.url only the incidents are read from there.").StringVar(&f.stateFile)
	c.Flag("turns", "A log of turns to count, instead of the kept days; repeatable.").PlaceHolder("FILE").StringsVar(&f.turns)
	c.Flag("config.file", "The configuration with the objectives and prices for --turns.").Default("synthetic.yml").StringVar(&f.configFile)
	c.Flag("prometheus.url", "A Prometheus that scrapes the sidecar. Its counters are read instead of the kept days and, without --state.file, its alerts as incidents.").StringVar(&f.prometheusURL)
	c.Flag("http.config.file", "File with passwords and certificates for the Prometheus, in the format of its <http_config>.").StringVar(&f.httpConfig)
	c.Flag("output.dir", "Directory for review.md and review.html; it is created if it does not exist. Without it, Markdown goes to standard output.").StringVar(&f.intoDir)
	return command{c, f.run}
}

func (f *sloReportFlags) run(ctx context.Context, e env) error {
	since, err := model.ParseDuration(f.since)
	if err != nil || since == 0 {
		return usagef("--since=%q: write a time such as 7d or 24h", f.since)
	}
	r, err := f.read(ctx, time.Duration(since))
	if err != nil {
		return err
	}
	if f.stateFile != "" {
		if err := r.ReadIncidents(f.stateFile); err != nil {
			return usageError{err}
		}
	}
	files, err := reports.Review(r)
	if err != nil {
		return err
	}
	if f.intoDir == "" {
		_, err = e.stdout.Write(files[0].Data)
		return err
	}
	if err := reports.Write(f.intoDir, files); err != nil {
		return err
	}
	for _, file := range files {
		fmt.Fprintf(e.stdout, "wrote %s\n", filepath.Join(f.intoDir, file.Name))
	}
	return nil
}

// read counts turns from the only source that the flags name.
func (f *sloReportFlags) read(ctx context.Context, since time.Duration) (*review.Report, error) {
	switch {
	case f.turns != nil && f.prometheusURL != "":
		return nil, usagef("--turns and --prometheus.url name two sources of the same turns: leave one of them out")
	case f.prometheusURL != "":
		client, err := prometheusClient(f.prometheusURL, f.httpConfig)
		if err != nil {
			return nil, err
		}
		return review.FromPrometheus(ctx, f.prometheusURL, client, since, time.Now())
	case f.turns != nil:
		return f.countTurns(since)
	case f.stateFile == "":
		return nil, usagef("name the turns to count: --state.file of the sidecar, --turns, or --prometheus.url")
	}
	r, err := review.FromState(f.stateFile, since, time.Now())
	if err != nil {
		return nil, usageError{err}
	}
	return r, nil
}

// prometheusClient checks the address of a Prometheus, and returns a client for it.
func prometheusClient(address, httpConfig string) (*http.Client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return nil, usagef("--prometheus.url: want an address with http:// or https://, for example http://prometheus:9090")
	case u.User != nil:
		return nil, usagef("--prometheus.url: want an address without user and password, for example http://prometheus:9090; passwords belong in the file of --http.config.file")
	}
	return clientOf(httpConfig)
}

func (f *sloReportFlags) countTurns(since time.Duration) (*review.Report, error) {
	cfg, err := config.Load(f.configFile)
	if err != nil {
		return nil, err
	}
	prices := map[probe.Key]*workload.Price{}
	for _, j := range cfg.Jobs {
		prices[j.Key()] = j.Price
	}
	log, err := turnlog.Open(f.turns)
	if err != nil {
		return nil, usageError{err}
	}
	r, err := review.FromTurns(log, cfg.SLOs, func(k probe.Key) *workload.Price { return prices[k] }, since)
	if err != nil {
		return nil, usagef("--turns: %w", err)
	}
	return r, nil
}
