package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"synthetic/internal/sidecar/regression"
)

// saveEvery is how much of the baselines and of a regression in progress a
// crash can lose.
const saveEvery = time.Minute

// restore reads the state file into the recorder, and makes sure that it can be
// replaced. A file that cannot be used is left as it is: it may hold what took a
// week to learn.
func (s *Sidecar) restore() error {
	path := s.options.StateFile
	if path == "" {
		return nil
	}
	f, err := regression.ReadFile(path)
	if err != nil {
		return refused("--state.file: %w", err)
	}
	beside, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return refused("--state.file=%s: nothing can be saved there: %w; its directory must exist and be writable", path, err)
	}
	if err := errors.Join(beside.Close(), os.Remove(beside.Name())); err != nil {
		return fmt.Errorf("--state.file=%s: removing what was written to try: %w", path, err)
	}
	s.Restore(f)
	return nil
}

// keepState saves the baselines once a minute until ctx is done.
func (s *Sidecar) keepState(ctx context.Context) error {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.saveState()
		}
	}
}

// saveState saves the baselines. What the configuration in force does not name is
// forgotten. A file that cannot be written is said and tried again: probing goes
// on.
func (s *Sidecar) saveState() {
	if err := s.Baselines().WriteFile(s.options.StateFile); err != nil {
		s.logger.Error("The baselines could not be saved; a restart would learn them anew", "err", err)
	}
}
