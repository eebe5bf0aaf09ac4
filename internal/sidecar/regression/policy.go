package regression

import "time"

// Policy is what a regression is to the people who are called for it. The zero
// value is not usable: start from DefaultPolicy.
type Policy struct {
	// PageRatio is the least ratio to the usual that pages, once it has lasted
	// for PageFor; from twice the usual on it need not last.
	PageRatio float64
	PageFor   time.Duration
	// TicketRatio is the least ratio that is worth a ticket.
	TicketRatio float64
	// LeastDifference, by index of Signals, is by how much a level must have
	// risen to page, whatever the ratio: what is less is a ticket.
	LeastDifference [signals]time.Duration
	// FalsePages is how many pages for nothing this job may bring in 30 days.
	FalsePages float64
	// AcceptAfter is how long a higher level that no objective minds must have
	// lasted to be taken for the usual.
	AcceptAfter time.Duration
}

// DefaultPolicy is that of a single job.
func DefaultPolicy() Policy {
	return Policy{
		PageRatio: 1.5, PageFor: 5 * time.Minute, TicketRatio: 1.2,
		LeastDifference: [signals]time.Duration{50 * time.Millisecond, 5 * time.Millisecond},
		FalsePages:      0.5, AcceptAfter: 3 * 24 * time.Hour,
	}
}

// Minute is what was measured of a signal in a minute.
type Minute struct {
	At time.Time
	// Turns is how many values there were, Mean the mean of the natural
	// logarithm of their seconds, Baseline that of what they were compared with;
	// NaN where there was nothing to compare with.
	Turns          float64
	Mean, Baseline float64
}
