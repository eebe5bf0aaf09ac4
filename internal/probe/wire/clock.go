package wire

import "time"

// steady is the largest change of the difference between the wall clock and
// the monotonic clock that still counts as the noise of reading both. The two
// are disciplined alike, so a real change is a step of the wall clock.
const steady = time.Millisecond

// clockMap maps wall clock stamps of the kernel to the monotonic clock.
//
// It learns the difference between the two at each reading and keeps the
// largest: a reader that is preempted between the clocks sees too small a one.
// A larger change is a step of the wall clock; a stamp from before the step
// cannot be mapped, and the difference is learned anew.
type clockMap struct {
	offset time.Duration
	known  bool
	last   time.Duration
}

// arrival maps stamp, given the wall clock and the monotonic clock now; all
// are nanoseconds since some epoch of their own. The result is never before
// the last one, nor after now. It reports false if the wall clock was stepped:
// then the result is now.
func (m *clockMap) arrival(wall, now, stamp time.Duration) (time.Duration, bool) {
	trusted := m.learn(wall - now)
	at := now
	if trusted {
		at = min(stamp-m.offset, now)
	}
	m.last = max(at, m.last)
	return m.last, trusted
}

// learn takes a reading of the difference and reports whether it agrees with
// those before.
func (m *clockMap) learn(offset time.Duration) bool {
	change := offset - m.offset
	if m.known && change.Abs() <= steady {
		m.offset = max(m.offset, offset)
		return true
	}
	first := !m.known
	m.offset, m.known = offset, true
	return first
}
