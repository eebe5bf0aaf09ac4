package wire

import "time"

// maxClockNoise is the largest change of the clock difference that counts as noise of reading the
// clocks. Both are adjusted alike, so a larger change is a step of the wall clock.
const maxClockNoise = time.Millisecond

// clockMap maps the kernel's wall clock timestamps to the monotonic clock.
//
// It measures the difference of the clocks at each read and keeps the largest one, because a reader
// that is preempted between the clocks measures too small a difference. After a step of the wall
// clock it starts again, and cannot map a timestamp from before the step.
type clockMap struct {
	offset time.Duration
	known  bool
	last   time.Duration
}

// arrival maps a timestamp. wall and now are the current wall clock and monotonic clock; all times
// are since some epoch. The result is not earlier than the last one and not later than now. It is
// now, and trusted is false, if the wall clock was stepped.
func (m *clockMap) arrival(wall, now, stamp time.Duration) (at time.Duration, trusted bool) {
	at = now
	if trusted = m.learn(wall - now); trusted {
		at = min(stamp-m.offset, now)
	}
	m.last = max(at, m.last)
	return m.last, trusted
}

// learn adds a measured difference. It returns false if the wall clock was stepped.
func (m *clockMap) learn(offset time.Duration) bool {
	change := offset - m.offset
	if m.known && change.Abs() <= maxClockNoise {
		m.offset = max(m.offset, offset)
		return true
	}
	first := !m.known
	m.offset, m.known = offset, true
	return first
}
