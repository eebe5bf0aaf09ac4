package sidecar

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"time"
)

// followFile reloads on every signal, and where AutoReload says so when the file
// has changed, until ctx is done.
func (s *Sidecar) followFile(ctx context.Context, signals <-chan os.Signal) error {
	var ticks <-chan time.Time
	if every := s.options.AutoReload; every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
		case <-ticks:
			if !s.changed() {
				continue
			}
		}
		if err := s.Load(); err != nil {
			s.logger.Error("The configuration was not loaded; the old one stays in force", "file", s.options.ConfigFile, "err", err)
		}
	}
}

// changed reports whether the file is there and not what the last load, good or
// bad, has read.
func (s *Sidecar) changed() bool {
	now := fileVersion(s.options.ConfigFile)
	s.loading.Lock()
	defer s.loading.Unlock()
	return now != "" && now != s.fileVersion
}

// fileVersion tells one state of a file from another: by its content, and by where its
// links lead. Kubernetes changes mounted files by a link to a new directory, so
// that a changed file beside it counts, too. A file that cannot be read has none, nor
// has one that can be read only once.
func fileVersion(file string) string {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := os.ReadFile(file)
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
