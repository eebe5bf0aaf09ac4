package sidecar

import "synthetic/internal/sidecar/store"

// openTurns opens the log of turns, if one is wanted.
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

// turnLog says how many turns the log lacks; nil where none is written.
func (s *Sidecar) turnLog() func() uint64 {
	if s.turns == nil {
		return nil
	}
	return s.turns.Dropped
}
