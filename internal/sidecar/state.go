package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/store"
	"synthetic/internal/sidecar/watch"
)

// A crash loses at most stateInterval of the state and historyInterval of the history. The
// history is large, and one hour of four weeks has little weight.
const (
	stateInterval   = time.Minute
	historyInterval = time.Hour
)

// state keeps what was learned, and the discovered targets, across restarts. keep alone writes the files, so that
// nothing else waits for their volume.
type state struct {
	file      string // "" keeps nothing; two files beside it hold the histories and the discovered targets
	logger    *slog.Logger
	baselines *watch.Tracker
	discovery *discovery.Follower
	lock      *atomicfile.Lock // nil without a file
	// keep is told by these channels that the discovered targets have changed, and to save everything and then send
	// the error.
	targetsUnsaved chan struct{}
	saves          chan chan error
}

// restore locks the state file and reads it. A file that cannot be used is left unchanged,
// because it may hold a week of learning.
func (s *state) restore() error {
	path := s.file
	if path == "" {
		return nil
	}
	var err error
	switch s.lock, err = atomicfile.LockFile(path); {
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
	s.baselines.Restore(states, histories)
	s.recallTargets()
	return nil
}

// readHistory reads the history file beside the state file. A damaged file is renamed, and the
// baselines are learned again.
func (s *state) readHistory() (map[probe.Key][]byte, error) {
	path := s.file + ".history"
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

// keep saves the state every minute and the history every hour. When ctx is done it saves
// all at once, before the turns in flight end, in case they hang, and the state again when they have ended.
func (s *state) keep(ctx context.Context, drained <-chan struct{}) error {
	defer s.lock.Release()
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

// targetsChanged lets keep save the discovered targets.
func (s *state) targetsChanged() {
	select {
	case s.targetsUnsaved <- struct{}{}:
	default: // they will be saved
	}
}

// saveNow lets keep save everything, and waits for that.
func (s *state) saveNow() error {
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
	return fmt.Errorf("the volume of %q has not answered for %v", s.file, saveWait)
}

func (s *state) save() error {
	defer s.saveTargets()
	return errors.Join(s.saveState(), s.saveHistory())
}

// saveState saves the state of all jobs. A write error is logged; the next save tries again.
func (s *state) saveState() error {
	err := s.baselines.States().WriteFile(s.file)
	if err != nil {
		s.logger.Error("The state could not be saved; after a restart, active pages and tickets are forgotten", "err", err)
	}
	return err
}

func (s *state) saveHistory() error {
	err := store.Write(s.file+".history", s.baselines.Histories())
	if err != nil {
		s.logger.Error("The history could not be saved; a restart continues with the history of the last save", "err", err)
	}
	return err
}

// Discovered targets are saved beside the state file. After a restart during an outage of the
// discovery source, the process probes the saved targets.

// recallTargets reads the targets that an earlier process discovered. If the file cannot be
// used, the process waits for discovery.
func (s *state) recallTargets() {
	path := s.file + ".targets"
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
func (s *state) saveTargets() {
	path, found := s.file+".targets", s.discovery.Remember()
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
