package main

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"synthetic/internal/rules"
)

// writeTurns writes what --write-turns wants instead of scores.
func (f *backtestFlags) writeTurns(ctx context.Context) (err error) {
	if f.recorded.given() || f.turns.given() {
		return usagef("--write-turns=%s: it is for simulated turns; leave out --tsdb.path, --prometheus.url and --turns", f.turnsFile)
	}
	sim, err := f.simulated()
	if err != nil {
		return err
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
	return f.campaign(sim, rules.Input{}).WriteTurns(ctx, lines, incidents)
}
