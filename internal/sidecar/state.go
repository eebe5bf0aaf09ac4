package sidecar

import (
	"context"
	"errors"
	"os"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/store"
)

// saveEvery is how much of the baselines and of a regression in progress a
// crash can lose.
const saveEvery = time.Minute

// historyEvery is how much of the history it can lose: that is large, and an hour
// of four weeks decides nothing.
const historyEvery = time.Hour

// restore locks the state file and reads it into the recorder. A file that cannot
// be used is left as it is: it may hold what took a week to learn.
func (s *Sidecar) restore() error {
	path := s.options.StateFile
	if path == "" {
		return nil
	}
	var err error
	switch s.stateLock, err = atomicfile.LockFile(path); {
	case atomicfile.IsDiskFull(err):
		// Probing goes on with a full disk, also when it begins with one.
		s.logger.Error("There is no room to lock the state file: no second process must use it", "file", path, "err", err)
	case err != nil:
		return refused("--state.file: %w", err)
	}
	f, err := baseline.ReadFile(path)
	if err != nil {
		return refused("--state.file: %w", err)
	}
	past, err := s.readHistory()
	if err != nil {
		return err
	}
	s.Restore(f, past)
	s.recallTargets()
	return nil
}

func (s *Sidecar) historyFile() string { return s.options.StateFile + ".history" }

// readHistory reads the history beside the state file. One that cannot be used
// is put aside, and what is usual is learned anew.
func (s *Sidecar) readHistory() (map[probe.Key][]byte, error) {
	path := s.historyFile()
	if err := atomicfile.RemoveStraysFor(path); err != nil { // the lock is of the state file
		return nil, refused("--state.file: %w", err)
	}
	jobs, err := store.Read(path)
	if damaged, ok := errors.AsType[*store.DamagedError](err); ok {
		aside := path + ".damaged"
		s.logger.Error("The history cannot be used: what is usual is learned anew", "err", damaged, "kept_as", aside)
		err = os.Rename(path, aside)
	}
	if err != nil {
		return nil, refused("--state.file: %w; its directory must be readable and writable", err)
	}
	return jobs, nil
}

// keepState saves the state once a minute and the history once an hour, and
// both at once when ctx is done: before the turns in flight are waited for, and
// whatever hangs or fails then.
func (s *Sidecar) keepState(ctx context.Context) error {
	tick, rare := time.NewTicker(saveEvery), time.NewTicker(historyEvery)
	defer tick.Stop()
	defer rare.Stop()
	for {
		select {
		case <-ctx.Done():
			s.save()
			return nil
		case <-tick.C:
			s.saveState()
		case <-rare.C:
			s.saveHistory()
		}
	}
}

// save saves the state and the history.
func (s *Sidecar) save() {
	s.saveState()
	s.saveHistory()
}

// saveState saves what changes by the minute: pages, tickets and what they know.
// What the configuration in force does not name is forgotten. A file that cannot be
// written is said and tried again: probing goes on.
func (s *Sidecar) saveState() {
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.Baselines().WriteFile(s.options.StateFile); err != nil {
		s.logger.Error("The state could not be saved; a restart forgets pages and tickets that are up", "err", err)
	}
}

// saveHistory does the same with the half hours and the minutes of four weeks.
func (s *Sidecar) saveHistory() {
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := store.Write(s.historyFile(), s.baselines.Histories()); err != nil {
		s.logger.Error("The history could not be saved; a restart goes on with what was usual before", "err", err)
	}
}
