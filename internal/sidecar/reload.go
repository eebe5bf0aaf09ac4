package sidecar

import (
	"context"
	"os"
	"time"

	"synthetic/internal/config"
)

// Load reads the configuration file and applies it; it is also how to reload. A
// file with mistakes changes nothing.
func (s *Sidecar) Load() error {
	s.loading.Lock()
	defer s.loading.Unlock()
	file := s.options.ConfigFile
	cfg, err := config.Load(file)
	if err != nil {
		s.recorder.SetReload(false, time.Now())
		return err
	}
	if err := s.Apply(cfg); err != nil {
		return err
	}
	for _, caution := range Cautions(cfg) {
		s.logger.Warn("A benchmark does not say everything", "file", file, "about", caution)
	}
	s.logger.Info("Loaded the configuration", "file", file, "targets", len(cfg.Targets), "jobs", len(cfg.Jobs), "slos", len(cfg.SLOs))
	return nil
}

// followSignals reloads on every signal until ctx is done.
func (s *Sidecar) followSignals(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			if err := s.Load(); err != nil {
				s.logger.Error("The configuration was not loaded; the old one stays in force", "file", s.options.ConfigFile, "err", err)
			}
		}
	}
}
