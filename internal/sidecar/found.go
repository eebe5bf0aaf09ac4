package sidecar

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"synthetic/internal/atomicfile"
	"synthetic/internal/sidecar/discovery"
)

// What was discovered is kept beside the state file, so that a restart while the
// discovery fails, as in an outage of the cluster's API, goes on probing.

func (s *Sidecar) targetsFile() string { return s.options.StateFile + ".targets" }

// recallTargets reads what an earlier process had found. What cannot be used is left
// alone: discovery finds it anew.
func (s *Sidecar) recallTargets() {
	text, err := os.ReadFile(s.targetsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	found := map[string][]discovery.Target{}
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		s.logger.Error("The targets that were discovered before cannot be used: they wait for discovery", "file", s.targetsFile(), "err", err)
		return
	}
	s.discovery.Recall(found)
}

// saveTargets keeps what was discovered, where there is a state file.
func (s *Sidecar) saveTargets() {
	found := s.discovery.Remember()
	if s.options.StateFile == "" || len(s.base.Discovery) == 0 {
		return
	}
	text, err := json.Marshal(found)
	if err == nil {
		err = atomicfile.Write(s.targetsFile(), text, 0o600)
	}
	if err != nil {
		s.logger.Error("What was discovered could not be saved; a restart while discovery fails has no targets", "err", err)
	}
}
