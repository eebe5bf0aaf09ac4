package sidecar

import "synthetic/internal/sidecar/store"

// openTurns opens the turn log if TurnsFile is set.
func (s *Sidecar) openTurns() error {
	o := s.options
	if o.TurnsFile == "" {
		return nil
	}
	log, err := store.Open(store.Options{Path: o.TurnsFile, MaxSize: o.TurnsMaxSize, Keep: o.TurnsKeep, Logger: o.Logger})
	if err != nil {
		return refused("--turns.file: %w", err)
	}
	s.turns = log
	return nil
}

// turnLog returns the function that counts turns missing from the log; nil without a log.
func (s *Sidecar) turnLog() func() uint64 {
	if s.turns == nil {
		return nil
	}
	return s.turns.Dropped
}
