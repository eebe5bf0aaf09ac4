package watch

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// archived is the history of a job: what is large and changes each half hour. It needs at most 250 kB a signal, and a
// tenth of that compressed.
type archived struct {
	Relearned time.Time
	Signals   [signalCount]archivedSignal
}

type archivedSignal struct {
	Usual   past
	History history
	Moves   moves
	MovesOf int32
}

// fits reports whether an archive can be used.
func (p *past) fits() bool {
	last := int32(0)
	for _, e := range p.Entries {
		if e.Number <= last || !finite(float64(e.Mean)) || !(e.Bad >= 0 && e.Bad <= 1) {
			return false
		}
		last = e.Number
	}
	return len(p.Entries) <= entryCount && finite(p.Accepted)
}

func (h *history) fits() bool {
	return h.First >= 0 && len(h.Turns) == len(h.Means) && len(h.Turns) <= mostHistory
}

func (m *moves) fit() bool {
	damaged := func(v float64) bool { return !finite(v) }
	return m.Days >= 0 && !slices.ContainsFunc(slices.Concat(m.Page[:], m.Ticket[:]), damaged)
}

// mostLog bounds logarithms of seconds: those of 1 µs and of 292 years, the longest time.Duration, are -14 and 23.
const mostLog = 32

func finite(v float64) bool { return math.Abs(v) <= mostLog }

func (j *job) archive() ([]byte, error) {
	a := archived{Relearned: j.relearned}
	for i := range j.signals {
		s := &j.signals[i]
		a.Signals[i] = archivedSignal{s.usual.past, s.history, s.limits.moves, s.limits.movesOf}
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(a); err != nil {
		return nil, fmt.Errorf("encoding the history: %w", err)
	}
	return out.Bytes(), nil
}

var errArchive = errors.New("it is damaged, or no history of this version")

// restoreArchive takes over what an earlier process archived. If it cannot be used, nothing changes.
func (j *job) restoreArchive(data []byte) error {
	var a archived
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&a); err != nil {
		return fmt.Errorf("%w: %w", errArchive, err)
	}
	for i := range a.Signals {
		if s := &a.Signals[i]; !s.Usual.fits() || !s.History.fits() || !s.Moves.fit() {
			return errArchive
		}
	}
	for i, saved := range a.Signals {
		s := &j.signals[i]
		s.usual = usual{zone: s.usual.zone, apart: s.usual.apart, past: saved.Usual}
		s.usual.rederive()
		s.history = saved.History
		s.limits.moves, s.limits.movesOf, s.limits.of = saved.Moves, saved.MovesOf, 0
		s.refill()
	}
	j.relearned = a.Relearned // if it was saved before the last relearn, that one is due again
	return nil
}

// refill restores the newest minutes from the history.
func (s *signal) refill() {
	s.minutes = minutes{told: s.minutes.told}
	if !s.usual.started() {
		return
	}
	for minute, v := range s.history.since(s.history.last() - ringMinutes + 1) {
		x := min(max(v.mean-s.usual.at(middleOf(minute)), -clip), clip)
		s.minutes.put(minute, v.turns, x)
	}
}
