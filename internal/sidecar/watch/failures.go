package watch

import (
	"time"

	"synthetic/internal/probe"
)

// failureRun counts consecutive failed turns.
type failureRun struct {
	count      int
	lastFailed bool
	// refused is true if the last turn was refused for load.
	refused bool
	// second is when the second of them failed, last when the last of them ended.
	second, last time.Time
}

// add counts a turn. A refusal for load and a turn that the prober itself ended say
// neither that the deployment is up nor that it is down, so they do not reset the count.
func (f *failureRun) add(r *probe.Result) {
	switch o := r.Outcome; {
	case o.Own():
	case o.Busy():
		f.lastFailed, f.refused = false, true
	case o.Failed() && !o.WrongAnswer():
		f.count++
		if at := failedAt(r); f.count == 2 {
			f.second = at
		} else if f.refused { // the time of the refusals does not count
			f.second = f.second.Add(max(0, at.Sub(f.last)))
		}
		f.lastFailed, f.refused, f.last = true, false, r.End
	default:
		*f = failureRun{}
	}
}

// failedAt returns from when on a turn failed. One without a first token waited in vain from its start.
func failedAt(r *probe.Result) time.Time {
	if r.Outcome == probe.TimeoutFirstToken {
		return r.Sent
	}
	return r.End
}

// lasts returns the time since the second failed turn, 0 without one. It does not grow while turns are refused for
// load: a few failures before do not become an outage.
func (f *failureRun) lasts(now time.Time) time.Duration {
	if f.count < 2 {
		return 0
	}
	if f.refused {
		now = f.last
	}
	return max(0, now.Sub(f.second))
}
