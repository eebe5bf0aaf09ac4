package main

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"synthetic/internal/backtest"
)

// writeTurns writes what --write-turns wants instead of scores.
func (f *backtestFlags) writeTurns(ctx context.Context, c backtest.Campaign) (err error) {
	if f.recorded.given() {
		return usagef("--write-turns=%s: a recording has no turns; leave out --tsdb.path and --prometheus.url", f.turnsFile)
	}
	log, err := os.Create(f.turnsFile)
	if err != nil {
		return usagef("--write-turns: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	incidents, err := os.Create(f.turnsFile + ".incidents.csv")
	if err != nil {
		return usagef("--write-turns: %w", err)
	}
	defer func() { err = errors.Join(err, incidents.Close()) }()
	var lines io.Writer = log
	if strings.HasSuffix(f.turnsFile, ".gz") {
		z := gzip.NewWriter(log)
		defer func() { err = errors.Join(err, z.Close()) }()
		lines = z
	}
	return c.WriteTurns(ctx, lines, incidents)
}
