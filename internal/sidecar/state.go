package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/store"
	"synthetic/internal/sidecar/watch"
)

// A crash loses at most stateInterval of the state and historyInterval of the history. The
// history is large, and one hour of four weeks has little weight.
const (
	stateInterval   = time.Minute
	historyInterval = time.Hour
)

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
		s.logger.Error("The disk is full, so the state file is not locked: no second process must use it", "file", path, "err", err)
	case err != nil:
		return refused("--state.file: %w", err)
	}
	states, err := watch.ReadFile(path)
	if err != nil {
		return refused("--state.file: %w", err)
	}
	histories, err := s.readHistory()
	if err != nil {
		return err
	}
	s.Restore(states, histories)
	s.recallTargets()
	return nil
}

func (s *Sidecar) historyFile() string { return s.options.StateFile + ".history" }

// readHistory reads the history file beside the state file. A damaged file is renamed, and the
// baselines are learned again.
func (s *Sidecar) readHistory() (map[probe.Key][]byte, error) {
	path := s.historyFile()
	jobs, err := store.Read(path)
	if damaged, ok := errors.AsType[*store.DamagedError](err); ok {
		aside := path + ".damaged"
		s.logger.Error("The history file is damaged: baselines are learned again", "err", damaged, "kept_as", aside)
		err = os.Rename(path, aside)
	}
	if err != nil {
		return nil, refused("--state.file: %w; its directory must be readable and writable", err)
	}
	return jobs, nil
}

// keepState saves the state every minute and the history every hour. When ctx is done it saves
// all at once, before the turns in flight end, in case they hang, and the state again when they have ended.
func (s *Sidecar) keepState(ctx context.Context, drained <-chan struct{}) error {
	defer s.stateLock.Release()
	state, history := time.NewTicker(stateInterval), time.NewTicker(historyInterval)
	defer state.Stop()
	defer history.Stop()
	for {
		select {
		case <-ctx.Done():
			_ = s.save() // it logs errors
			<-drained
			_ = s.saveState()
			return nil
		case saved := <-s.saves:
			saved <- s.save()
		case <-s.targetsUnsaved:
			s.saveTargets()
		case <-state.C:
			_ = s.saveState()
		case <-history.C:
			_ = s.saveHistory()
		}
	}
}

// saveWait is how long a client waits until the level that it accepted is saved.
const saveWait = 10 * time.Second

// saveNow lets keepState save everything, and waits for that.
func (s *Sidecar) saveNow() error {
	saved, late := make(chan error, 1), time.After(saveWait)
	select {
	case s.saves <- saved:
		select {
		case err := <-saved:
			return err
		case <-late:
		}
	case <-late: // another request waits, whose save includes this one
	}
	return fmt.Errorf("the volume of %q has not answered for %v", s.options.StateFile, saveWait)
}

func (s *Sidecar) save() error {
	defer s.saveTargets()
	return errors.Join(s.saveState(), s.saveHistory())
}

// saveState saves the state of all jobs. A write error is logged; the next save tries again.
func (s *Sidecar) saveState() error {
	err := s.Baselines().WriteFile(s.options.StateFile)
	if err != nil {
		s.logger.Error("The state could not be saved; after a restart, active pages and tickets are forgotten", "err", err)
	}
	return err
}

func (s *Sidecar) saveHistory() error {
	err := store.Write(s.historyFile(), s.baselines.Histories())
	if err != nil {
		s.logger.Error("The history could not be saved; a restart continues with the history of the last save", "err", err)
	}
	return err
}

// Discovered targets are saved beside the state file. After a restart during an outage of the
// discovery source, the process probes the saved targets.

func (s *Sidecar) targetsFile() string { return s.options.StateFile + ".targets" }

// recallTargets reads the targets that an earlier process discovered. If the file cannot be
// used, the process waits for discovery.
func (s *Sidecar) recallTargets() {
	path := s.targetsFile()
	found := map[string][]fleet.Discovered{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = atomicfile.ParseJSON(text, &found)
	}
	switch {
	case err == nil:
		s.discovery.Recall(found)
	case !errors.Is(err, fs.ErrNotExist):
		s.logger.Error("The saved targets cannot be used: discovered targets are probed after the first answer of discovery", "file", path, "err", err)
	}
}

// saveTargets saves the discovered targets. Targets of removed groups are not saved.
func (s *Sidecar) saveTargets() {
	path, found := s.targetsFile(), s.discovery.Remember()
	text, err := json.Marshal(found)
	switch {
	case len(found) == 0:
		if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) { // Remove would fail on a read-only volume
			return
		}
		err = os.Remove(path)
	case err == nil:
		err = atomicfile.Write(path, text, 0o600)
	}
	if err != nil {
		s.logger.Error("The discovered targets could not be saved; after a restart while discovery fails they are missing or outdated", "err", err)
	}
}
