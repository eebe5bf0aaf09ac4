package sidecar

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"time"
)

// followFile loads the configuration on every signal, and on changes of the file if AutoReload
// is set, until ctx is done.
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

// changed reports whether the file exists and differs from what the last load read, successful
// or not.
func (s *Sidecar) changed() bool {
	now := fileVersion(s.options.ConfigFile)
	s.loading.Lock()
	defer s.loading.Unlock()
	return now != "" && now != s.fileVersion
}

// fileVersion identifies the content of a file and the place its links lead to. Kubernetes
// replaces mounted files by changing a link to their directory, so a change of a neighbouring
// file counts too. The version is empty for a file that cannot be read, or only once.
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
