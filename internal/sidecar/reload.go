package sidecar

import (
	"context"
	"fmt"
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

// Cautions say of the benchmarks what they cannot be compared with.
func Cautions(cfg *config.Config) []string {
	var out []string
	for _, j := range cfg.Jobs {
		if j.Benchmark == nil {
			continue
		}
		why := "too few of them were measured"
		if j.Benchmark.Pooled {
			why = "the file does not tell the kinds of turn apart"
		}
		for _, kind := range j.Benchmark.Learned {
			out = append(out, fmt.Sprintf("%s to %s: the usual level of %s turns is learned and not that of %s, since %s", j.Workload.Name, j.Target.Name, kind, j.Benchmark.Source(), why))
		}
	}
	return out
}
