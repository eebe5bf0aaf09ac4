package sidecar

import (
	"context"
	"errors"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/store"
)

// If Prometheus is not up yet, readBack tries again for ten minutes.
const (
	readBackPause = 15 * time.Second
	readBackTries = 40
	// readBackTimeout bounds the time of all requests together. Minutes read until then are
	// used.
	readBackTimeout = time.Minute
)

// readBack reads from Prometheus what earlier processes measured before a time, for the jobs
// without a history. Probing does not wait for it. It returns when ctx is done.
func (s *Sidecar) readBack(ctx context.Context, before time.Time) error {
	defer func() { <-ctx.Done() }() // Run ends all parts when one of them returns
	jobs := s.baselines.WithoutHistory()
	if len(jobs) == 0 {
		return nil
	}
	reader, err := s.historyReader()
	if err != nil {
		s.logger.Error("Cannot read the history back from Prometheus: baselines are learned again", "err", err)
		return nil
	}
	defer reader.Close()
	began, left, tries, minutes := time.Now(), readBackTimeout, readBackTries, 0
	for len(jobs) > 0 && ctx.Err() == nil {
		requested := time.Now()
		n, err := s.readJobBack(ctx, reader, jobs[0], before, left)
		minutes += n
		left -= time.Since(requested)
		_, refused := errors.AsType[*store.RefusedError](err)
		switch tries--; {
		case err == nil || n > 0 && left > 0:
			jobs = jobs[1:]
			tries = readBackTries
			continue
		case ctx.Err() != nil:
			return nil
		case left <= 0 || tries == 0 || refused:
			s.logger.Error("Cannot read the history of some jobs back from Prometheus: their baselines are learned again", "jobs", len(jobs), "first", jobs[0], "minutes_of_others", minutes, "err", err)
			return nil
		case tries == readBackTries-1:
			s.logger.Warn("Cannot read the history back from Prometheus yet: trying again", "every", readBackPause, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(readBackPause):
		}
	}
	s.logger.Info("Read the history back from Prometheus", "minutes", minutes, "took", time.Since(began))
	return nil
}

// readJobBack reads the minutes of one job within a time limit, and returns their number.
func (s *Sidecar) readJobBack(ctx context.Context, reader *store.Reader, job probe.Key, before time.Time, limit time.Duration) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	minutes, err := reader.Read(ctx, job, before)
	for series, m := range minutes {
		s.baselines.Backfill(job, series.Kind, series.Signal, m)
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
	client, err := promconfig.NewClientFromConfig(s.first.Prometheus.HTTP, "state", options...)
	if err != nil {
		return nil, err
	}
	return store.New(string(s.first.Prometheus.URL), s.first.Prometheus.Labels, client)
}
