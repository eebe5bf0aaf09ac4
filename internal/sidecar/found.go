package sidecar

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"synthetic/internal/atomicfile"
	"synthetic/internal/sidecar/discovery"
)

// Discovered targets are saved beside the state file. After a restart during an outage of the
// discovery source, the process probes the saved targets.

func (s *Sidecar) targetsFile() string { return s.options.StateFile + ".targets" }

// recallTargets reads the targets that an earlier process discovered. If the file cannot be
// used, the process waits for discovery.
func (s *Sidecar) recallTargets() {
	path := s.targetsFile()
	found := map[string][]discovery.Target{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	err = errors.Join(err, atomicfile.RemoveStraysFor(path)) // the lock protects the state file alone
	switch {
	case err == nil:
		s.discovery.Recall(found)
	case !errors.Is(err, fs.ErrNotExist):
		s.logger.Error("The targets that were discovered before cannot be used: they wait for discovery", "file", path, "err", err)
	}
}

// saveTargets saves the discovered targets if there is a state file. Targets of removed groups
// are not saved.
func (s *Sidecar) saveTargets() {
	if s.options.StateFile == "" {
		return
	}
	if err := keepTargets(s.targetsFile(), s.discovery.Remember()); err != nil {
		s.logger.Error("What was discovered could not be saved; a restart while discovery fails has no targets, or older ones", "err", err)
	}
}

func keepTargets(path string, found map[string][]discovery.Target) error {
	if len(found) == 0 {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}
