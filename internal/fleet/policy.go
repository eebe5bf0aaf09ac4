package fleet

import (
	"cmp"
	"time"

	"synthetic/internal/slo"
)

// Signals returns the timings whose regressions are detected. The position in this list is the signal's index.
func Signals() []slo.SLI { return []slo.SLI{slo.TTFT, slo.TPOT} }

const (
	kinds   = 2 // of turns: first and follow-up, as probe.TurnKinds
	signals = 2
)

// Policy defines when a change of latency is a regression. Start from DefaultPolicy: the zero
// value is not usable.
type Policy struct {
	// PageRatio is the smallest ratio to the baseline that pages after it has lasted for
	// PageFor. A ratio of 2 or more pages at once.
	PageRatio float64       `yaml:"page_ratio" default:"1.5" above:"1" max:"100"`
	PageFor   time.Duration `yaml:"page_for" default:"5m" min:"1m" max:"1h"`
	// TicketRatio is the smallest ratio to the baseline that opens a ticket.
	TicketRatio float64
	// AcceptAfter is how long a higher level must last to become the new baseline, if it
	// violates no objective.
	AcceptAfter time.Duration `yaml:"accept_after" default:"3d" min:"1d" max:"28d"`
}

// LeastDifference returns the smallest rise of a signal that pages, whatever the ratio, by index of
// Signals. A smaller rise is a ticket: no reader of streamed text notices it.
func LeastDifference() [signals]time.Duration {
	return [signals]time.Duration{50 * time.Millisecond, 5 * time.Millisecond}
}

// DefaultPolicy returns the policy of a single job.
func DefaultPolicy() Policy {
	return Policy{
		PageRatio: 1.5, PageFor: 5 * time.Minute, TicketRatio: 1.2,
		AcceptAfter: 3 * 24 * time.Hour,
	}
}

// Change is a declared change window. Turns in [From, To) do not enter the baseline.
type Change struct {
	From, To time.Time
	// Weekly repeats the window every seven days. It must be shorter than that. From and To are
	// then times on the clock of Location, written as UTC.
	Weekly bool
	// Location is the time zone of a weekly window; nil means UTC.
	Location *time.Location
	// Relearn discards the baseline learned before To, because the level is meant to differ
	// afterwards. It has no effect on a weekly window.
	Relearn bool
}

// Week is the period of weekly windows.
const Week = 7 * 24 * time.Hour

// Covers reports whether at lies within the window.
func (c Change) Covers(at time.Time) bool {
	from, to := c.Window(at)
	return !at.Before(from) && at.Before(to)
}

// Window returns the start and the end of the window, of a weekly one the newest that began before
// a time, or the first.
func (c Change) Window(at time.Time) (from, to time.Time) {
	if !c.Weekly {
		return c.From, c.To
	}
	_, offset := at.In(cmp.Or(c.Location, time.UTC)).Zone()
	ahead := time.Duration(offset) * time.Second
	shift := at.Add(ahead).Sub(c.From).Truncate(Week) - ahead
	return c.From.Add(shift), c.To.Add(shift)
}
