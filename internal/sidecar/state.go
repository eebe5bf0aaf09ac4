package sidecar

import (
	"context"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/sidecar/regression"
)

// saveEvery is how much of the baselines and of a regression in progress a
// crash can lose.
const saveEvery = time.Minute

// restore locks the state file and reads it into the recorder. A file that cannot
// be used is left as it is: it may hold what took a week to learn.
func (s *Sidecar) restore() error {
	path := s.options.StateFile
	if path == "" {
		return nil
	}
	var err error
	switch s.stateLock, err = atomicfile.LockFile(path); {
	case atomicfile.Full(err):
		// Probing goes on with a full disk, also when it begins with one.
		s.logger.Error("There is no room to lock the state file: no second process must use it", "file", path, "err", err)
	case err != nil:
		return refused("--state.file: %w", err)
	}
	f, err := regression.ReadFile(path)
	if err != nil {
		return refused("--state.file: %w", err)
	}
	s.Restore(f)
	return nil
}

// keepState saves the baselines once a minute, and at once when ctx is done:
// before the turns in flight are waited for, and whatever hangs or fails then.
func (s *Sidecar) keepState(ctx context.Context) error {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.saveState()
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
