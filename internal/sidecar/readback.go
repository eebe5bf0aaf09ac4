package sidecar

import (
	"context"
	"errors"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/store"
)

// A Prometheus that is not up yet is asked again every readBackPause, readBackTries times in
// all: ten minutes.
const (
	readBackPause = 15 * time.Second
	readBackTries = 40
	// readBackTimeout bounds the time of all requests together. Minutes read until then are
	// used.
	readBackTimeout = time.Minute
)

// readBack reads what earlier processes measured before a time, for the jobs without a history.
// Probing does not wait for it. It returns when ctx is done.
func (s *Sidecar) readBack(ctx context.Context, before time.Time) error {
	defer func() { <-ctx.Done() }() // a part that returns early would end the others
	jobs := s.baselines.WithoutHistory()
	if len(jobs) == 0 {
		return nil
	}
	reader, err := s.historyReader()
	if err != nil {
		s.logger.Error("The history cannot be read back from Prometheus: it begins anew", "err", err)
		return nil
	}
	defer reader.Close()
	begun, left, tries, minutes := time.Now(), readBackTimeout, readBackTries, 0
	for len(jobs) > 0 && ctx.Err() == nil {
		asked := time.Now()
		n, err := s.readJobBack(ctx, reader, jobs[0], before, left)
		minutes += n
		left -= time.Since(asked)
		var refused *store.RefusedError
		switch tries--; {
		case err == nil || n > 0 && left > 0:
			jobs = jobs[1:]
			tries = readBackTries
			continue
		case ctx.Err() != nil:
			return nil
		case left <= 0 || tries == 0 || errors.As(err, &refused):
			s.logger.Error("The history of some jobs was not read back from Prometheus: it begins anew", "jobs", len(jobs), "first", jobs[0], "minutes_of_others", minutes, "err", err)
			return nil
		case tries == readBackTries-1:
			s.logger.Warn("The history cannot be read back from Prometheus yet: it is asked again", "every", readBackPause, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(readBackPause):
		}
	}
	s.logger.Info("Read the history back from Prometheus", "minutes", minutes, "took", time.Since(begun))
	return nil
}

// readJobBack reads the minutes of one job within a time limit, and returns their number.
func (s *Sidecar) readJobBack(ctx context.Context, reader *store.Reader, job probe.Key, before time.Time, most time.Duration) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	minutes, err := reader.Read(ctx, job, before)
	for of, m := range minutes {
		s.baselines.Backfill(job, of.Kind, of.Signal, m)
		n += len(m)
	}
	return n, err
}

// historyReader returns a reader of the configured Prometheus.
func (s *Sidecar) historyReader() (*store.Reader, error) {
	var options []promconfig.HTTPClientOption
	if s.options.Dial != nil {
		options = append(options, promconfig.WithDialContextFunc(s.options.Dial))
	}
	client, err := promconfig.NewClientFromConfig(s.prometheus.HTTP, "state", options...)
	if err != nil {
		return nil, err
	}
	return store.New(string(s.prometheus.URL), s.prometheus.Labels, client)
}
