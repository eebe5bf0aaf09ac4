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

// mostlyOwn reports whether most turns were faults of the prober. If no turn ended in the period, it
// reports whether the last one was, at most ownLasts ago.
func (s *ownShare) mostlyOwn(now time.Time) bool {
	s.roll(now)
	turns, own := 0, 0
	for _, slot := range s.slots {
		turns, own = turns+slot.turns, own+slot.own
	}
	if turns == 0 {
		return !s.last.IsZero() && now.Sub(s.last) <= ownLasts
	}
	return 2*own > turns
}

// starved reports whether the prober itself is too slow or too often at fault to judge the job.
// The most tolerant signal decides, the time per output token: a lag that blurs a time to first
// token does not hide an outage.
func (j *job) starved(late time.Duration, now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.own.mostlyOwn(now) || late > lag.MaxTolerance
}
