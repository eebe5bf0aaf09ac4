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
	Cached    [kinds]archivedUsual
}

type archivedSignal struct {
	Usual   archivedUsual
	History history
	Moves   moves
	MovesOf int32
}

type archivedUsual struct {
	Numbers    []int32
	Means, Bad []float32
	Counted    []uint32
	Since      int32
	Accepted   float64
	Moved      time.Time
}

func (u *usual) archive() archivedUsual {
	a := archivedUsual{Since: u.since, Accepted: u.accepted, Moved: u.moved}
	for _, e := range u.entries {
		a.Numbers, a.Means, a.Bad, a.Counted = append(a.Numbers, e.number), append(a.Means, e.mean), append(a.Bad, e.bad), append(a.Counted, e.counted)
	}
	return a
}

// fits reports whether an archive can be used.
func (a *archivedUsual) fits() bool {
	n := len(a.Numbers)
	if len(a.Means) != n || len(a.Bad) != n || len(a.Counted) != n || n > entryCount || !finite(a.Accepted) {
		return false
	}
	for i, number := range a.Numbers {
		if number <= 0 || i > 0 && number <= a.Numbers[i-1] || !finite(float64(a.Means[i])) || !(a.Bad[i] >= 0 && a.Bad[i] <= 1) {
			return false
		}
	}
	return true
}

func (m *moves) fit() bool {
	return m.Days >= 0 && !slices.ContainsFunc(slices.Concat(m.Page[:], m.Ticket[:]), func(v float64) bool { return !finite(v) })
}

// mostLog bounds logarithms of seconds: those of 1 µs and of 292 years, the longest time.Duration, are -14 and 23.
const mostLog = 32

func finite(v float64) bool { return math.Abs(v) <= mostLog }

func (u *usual) restore(a archivedUsual) {
	*u = usual{zone: u.zone, apart: u.apart, since: a.Since, accepted: a.Accepted, moved: a.Moved}
	for i, number := range a.Numbers {
		u.put(entry{number: number, mean: a.Means[i], bad: a.Bad[i], counted: a.Counted[i]})
	}
	u.rederive()
}

func (j *job) archive() ([]byte, error) {
	a := archived{Relearned: j.relearned}
	for i := range j.signals {
		a.Signals[i] = archivedSignal{j.signals[i].usual.archive(), j.signals[i].history, j.signals[i].moves, j.signals[i].movesOf}
	}
	for k := range j.cached {
		a.Cached[k] = j.cached[k].usual.archive()
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
		if s := &a.Signals[i]; !s.Usual.fits() || len(s.History.Turns) != len(s.History.Means) || len(s.History.Turns) > mostHistory || s.History.First < 0 || !s.Moves.fit() {
			return errArchive
		}
	}
	for k := range a.Cached {
		if !a.Cached[k].fits() {
			return errArchive
		}
	}
	for i, saved := range a.Signals {
		s := &j.signals[i]
		s.usual.restore(saved.Usual)
		s.history = saved.History
		s.moves, s.movesOf, s.limitsOf = saved.Moves, saved.MovesOf, 0
		s.refill()
	}
	for k, saved := range a.Cached {
		j.cached[k].usual.restore(saved)
	}
	j.relearned = a.Relearned // if it was saved before the last relearn, that one is due again
	return nil
}

// refill restores the newest minutes from the history.
func (s *signal) refill() {
	s.minutes = minutes{}
	if !s.usual.started() {
		return
	}
	for minute, v := range s.history.since(s.history.last() - ringMinutes + 1) {
		x := min(max(v.mean-s.usual.at(middleOf(minute)), -clip), clip)
		put := sampleOf(v.turns, x, x, s.told.Level)
		if minute <= s.told.Cleared {
			put.sum = 0
		}
		s.minutes.put(minute, put)
	}
}
