package sidecar

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/config/yamlform"
)

// Load reads the configuration file and applies it, at the start and at each reload. A file
// with mistakes changes nothing.
func (s *Sidecar) Load() error {
	s.loading.Lock()
	defer s.loading.Unlock()
	file := s.options.ConfigFile
	s.fileVersion = fileVersion(file)
	cfg, err := config.LoadToRun(file)
	if err != nil {
		s.recorder.SetReload(false, time.Now())
		return err
	}
	if err := s.Apply(cfg); err != nil {
		return err
	}
	own := cfg.ForShard(s.options.Shard)
	for _, note := range cfg.Notes {
		s.options.Logger.Warn("The configuration can be meant otherwise", "note", note)
	}
	day, _ := own.Footprint()
	s.options.Logger.Info("Loaded the configuration", "file", file, "targets", len(own.Targets), "jobs", len(own.Jobs), "slos", len(cfg.SLOs), "expected_a_day", day)
	return nil
}

// followFile loads the configuration on every signal, and on changes of the file if AutoReload
// is set, until ctx is done.
func (s *Sidecar) followFile(ctx context.Context, signals <-chan os.Signal) error {
	var ticks <-chan time.Time
	if interval := s.options.AutoReload; interval > 0 {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
		case <-ticks:
			if !s.fileChanged() {
				continue
			}
		}
		if err := s.Load(); err != nil {
			s.options.Logger.Error("The configuration was not loaded; the old one stays in force", "file", s.options.ConfigFile, "err", err)
		}
	}
}

// fileChanged reports whether the file exists and differs from what the last load read,
// successful or not.
func (s *Sidecar) fileChanged() bool {
	now := fileVersion(s.options.ConfigFile)
	s.loading.Lock()
	defer s.loading.Unlock()
	return now != "" && now != s.fileVersion
}

// fileVersion identifies the content of a file and the place its links lead to. Kubernetes
// replaces mounted files by changing a link to their directory, so a change of a neighbouring
// file counts too. The version is empty for a file that cannot be read, or only once. Of a file that is too
// large, only the first 4 MiB count.
func fileVersion(file string) string {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := yamlform.Read(file)
	if err != nil {
		return ""
	}
	place, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return place + string(sum[:])
}
