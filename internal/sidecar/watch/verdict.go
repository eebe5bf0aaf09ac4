package watch

import "math"

// reports are what is up.
type reports struct {
	Page   verdict `json:"page,omitzero"`
	Ticket verdict `json:"ticket,omitzero"`
}

func (r *reports) regressed() bool { return r.Page.Up || r.Ticket.Up }

// verdict is the state of a page or a ticket.
type verdict struct {
	Up bool `json:"up,omitzero"`
	// Seen is the last minute that showed the rise.
	Seen int64 `json:"seen,omitzero"`
	// Decision is what brought it up, or the newest one.
	Decision Decision `json:"decision,omitzero"`
}

// take takes the decision of a minute.
func (v *verdict) take(d Decision) {
	if v.Up {
		return
	}
	if d.Holds() {
		v.Up, v.Seen = true, d.Minute
	}
	v.Decision = d
}

const (
	// A page or ticket is over when the mean of overMinutes, or of up to a quarter of an hour until there are overTurns, is
	// below half of its limit. So long it also stays up without turns.
	overMinutes, overTurns = 4, 48
)

// over reports whether the last minutes no longer show the rise.
func (v *verdict) over(m *minutes, minute int64) bool {
	mean, n := m.now()
	switch {
	case math.IsNaN(mean):
		return minute-v.Seen >= quarterHour
	case mean < v.Decision.Limit.Value/2:
		return minute-v.Decision.Minute >= int64(n)
	}
	v.Seen = minute
	return false
}

// now returns the mean of the minutes that decide whether a level has ended, and their number.
func (m *minutes) now() (mean float64, n int) {
	n = overMinutes
	for ; n < quarterHour; n++ {
		if turns, _ := m.sum(0, n); turns >= overTurns {
			break
		}
	}
	return m.plain(n), n
}

// told is what was reported already. The minutes up to Cleared count as usual. Rise is a reported rise that lasts, 0
// without one; only a higher one is reported again.
type told struct {
	Rise    float64 `json:"rise,omitzero"`
	Cleared int64   `json:"cleared,omitzero"`
}

// reportMinutes is when a page or ticket ends that is below twice the usual and misses no objective. Its level is forgotten
// when it is gone for an hour.
const reportMinutes = 110

// end ends what is over. All minutes until then count no more.
func (s *signal) end() {
	told := &s.Minutes.Told
	if s.Page.Up && s.Page.over(&s.Minutes, s.minute) {
		s.Page, told.Cleared = verdict{}, s.minute
	}
	if s.Ticket.Up && s.Ticket.over(&s.Minutes, s.minute) {
		s.Ticket = verdict{}
	}
	if rise := max(0, s.Minutes.plain(halfHourMinutes)); s.regressed() && s.minute-s.began() >= reportMinutes && !math.IsNaN(rise) && !s.urgent() {
		s.reports = reports{}
		told.Rise, told.Cleared = told.Rise+rise, s.minute
	}
	if told.Rise > 0 && s.minute-told.Cleared >= 60 && s.Minutes.toUsual(60) < told.Rise/2 {
		told.Rise, told.Cleared = 0, s.minute
	}
}

// urgent reports whether the signal pages and must not end by itself.
func (s *signal) urgent() bool {
	return s.Page.Up && (s.Minutes.toUsual(halfHourMinutes) >= math.Log(twice) || s.violates())
}

// began returns the first minute of the rise that pages or has a ticket, 0 without one.
func (r *reports) began() (first int64) {
	for _, v := range []*verdict{&r.Page, &r.Ticket} {
		if began := v.Decision.Began; v.Up && (first == 0 || began < first) {
			first = began
		}
	}
	return first
}
