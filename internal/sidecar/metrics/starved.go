package metrics

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/lag"
)

const (
	// ownSlots of ownSlot each are the period over which the prober's faults are counted.
	ownSlots = 8
	ownSlot  = 15 * time.Second
	// ownLasts is how long the last turn counts for a job with so little traffic that no other
	// turn followed.
	ownLasts = 10 * time.Minute
)

// ownShare counts the prober's faults among the turns of the last two minutes.
type ownShare struct {
	slots [ownSlots]struct{ turns, own int }
	at    int64 // number of the newest slot
	// last is the end of the last turn if that was a fault of the prober, else zero.
	last time.Time
}

// add counts the end of a turn, unless our own shutdown canceled it.
func (s *ownShare) add(o probe.Outcome, now time.Time) {
	if o.Canceled() {
		return
	}
	s.roll(now)
	slot := &s.slots[s.at%ownSlots]
	slot.turns++
	s.last = time.Time{}
	if o.OwnFault() {
		s.last = now
		slot.own++
	}
}

// roll empties the slots that are too old.
func (s *ownShare) roll(now time.Time) {
	present := now.UnixNano() / int64(ownSlot)
	for at := max(s.at+1, present-ownSlots+1); at <= present; at++ {
		s.slots[at%ownSlots] = struct{ turns, own int }{}
	}
	s.at = max(s.at, present)
}

// counts returns the turns of the period and the prober's faults among them.
func (s *ownShare) counts(now time.Time) (turns, own int) {
	s.roll(now)
	for _, slot := range s.slots {
		turns, own = turns+slot.turns, own+slot.own
	}
	return turns, own
}

// mostlyOwn reports whether most turns were faults of the prober. If no turn ended in the period, it
// reports whether the last one was, at most ownLasts ago.
func (s *ownShare) mostlyOwn(now time.Time) bool {
	turns, own := s.counts(now)
	if turns == 0 {
		return !s.last.IsZero() && now.Sub(s.last) <= ownLasts
	}
	return 2*own > turns
}

// judges reports whether the prober knows the state of the target: a turn has ended by something else
// than the prober, and not all turns of the last two minutes were its own faults.
func (j *job) judges(now time.Time) bool {
	judged := 0
	for _, turns := range j.tally.Turns {
		judged += turns.Ended - turns.Count(probe.Outcome.Own)
	}
	turns, own := j.own.counts(now)
	return judged > 0 && (turns == 0 || own < turns)
}

// starved reports whether the prober itself is too slow or too often at fault for the latencies of the
// job, or for all that it measures.
func (j *job) starved(late time.Duration, now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.own.mostlyOwn(now) || late > lag.MaxTolerance
}
