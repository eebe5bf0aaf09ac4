package main

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"synthetic/internal/config"
)

// reloader loads a configuration file and hands it to apply. A file with
// mistakes changes nothing.
type reloader struct {
	path   string
	logger *slog.Logger
	apply  func(*config.Config) error
	// done is told of every attempt.
	done func(ok bool, at time.Time)

	mu sync.Mutex // one load at a time
}

// load parses and validates the file, then swaps it in.
func (r *reloader) load() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	cfg, err := config.Load(r.path)
	if err == nil {
		err = r.apply(cfg)
	}
	r.done(err == nil, time.Now())
	if err != nil {
		return err
	}
	for _, caution := range cautions(cfg) {
		r.logger.Warn("A benchmark does not say everything", "file", r.path, "about", caution)
	}
	r.logger.Info("Loaded the configuration", "file", r.path, "targets", len(cfg.Targets), "jobs", len(cfg.Jobs), "slos", len(cfg.SLOs))
	return nil
}

// follow reloads on every signal until ctx is done.
func (r *reloader) follow(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			if err := r.load(); err != nil {
				r.logger.Error("The configuration was not loaded; the old one stays in force", "file", r.path, "err", err)
			}
		}
	}
}
