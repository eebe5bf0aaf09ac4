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

// saveEvery is the longest time of state that a crash can lose.
const saveEvery = time.Minute

// historyEvery is the longest time of history that a crash can lose. The history is large, and
// one hour of four weeks has little weight.
const historyEvery = time.Hour

// restore locks the state file and reads it. A file that cannot be used is left unchanged,
// because it may hold a week of learning.
func (s *Sidecar) restore() error {
	path := s.options.StateFile
	if path == "" {
		return nil
	}
	var err error
	switch s.stateLock, err = atomicfile.LockFile(path); {
	case atomicfile.IsDiskFull(err):
		// Probing continues on a full disk, and also starts on one.
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

// readHistory reads the history file beside the state file. A damaged file is renamed, and the
// baselines are learned again.
func (s *Sidecar) readHistory() (map[probe.Key][]byte, error) {
	path := s.historyFile()
	if err := atomicfile.RemoveStraysFor(path); err != nil { // the lock protects the state file alone
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

// keepState saves the state every minute and the history every hour. When ctx is done it saves
// both at once, before the turns in flight end, in case they hang.
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

func (s *Sidecar) save() {
	s.saveState()
	s.saveHistory()
}

// saveState saves pages, tickets and what they depend on, for the jobs of the current
// configuration. A write error is logged and tried again at the next save.
func (s *Sidecar) saveState() {
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.Baselines().WriteFile(s.options.StateFile); err != nil {
		s.logger.Error("The state could not be saved; a restart forgets pages and tickets that are up", "err", err)
	}
}

// saveHistory saves the half hours and minutes of four weeks.
func (s *Sidecar) saveHistory() {
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := store.Write(s.historyFile(), s.baselines.Histories()); err != nil {
		s.logger.Error("The history could not be saved; a restart goes on with what was usual before", "err", err)
	}
}
