package backtest

import (
	"math"
	"time"
)

// Incident is a labelled time during which something was wrong.
type Incident struct {
	Name     string
	From, To time.Time
	// Within is how soon after From a page must come for the incident to count as found.
	Within time.Duration
	// Target is the affected target; "" means all targets.
	Target string
	// Forecast is the delay until a page, in seconds, that the sidecar exported just
	// before the incident: +Inf if it expected no page, NaN if it exported no delay
	// for such a fault. nil if the run did not look.
	Forecast *float64
}

// detection says when alerts found an incident.
type detection struct {
	Incident Incident
	// Pages counts the pages from the start of the incident until Grace after its end, without
	// second calls.
	Pages int
	// ToPage and ToTicket are the seconds from the start to the first page and the first
	// ticket, +Inf if none came in time. ToResolve is the seconds from the end of the incident
	// to the end of its last page, NaN without a page.
	ToPage, ToTicket, ToResolve float64
}

// toEither returns the seconds from the start of the incident to the first page or ticket.
func (v detection) toEither() float64 { return min(v.ToPage, v.ToTicket) }

const (
	// Grace is how long after the end of an incident a page still belongs to it, because alerts
	// look at measurements of the past.
	Grace = 15 * time.Minute
	// secondCall is how long after the end of an incident another page is a second call, if the
	// incident already had a page.
	secondCall = 30 * time.Minute
)

// judgedPage is a page and the incident it belongs to.
type judgedPage struct {
	page
	// Incident is the name of the incident; "" for a false page.
	Incident string
	// SecondCall is true for a false page within half an hour after the end of an incident that
	// already had a page.
	SecondCall bool
}

// judge assigns pages to incidents. Tickets only give the time to the first ticket. Pages and
// tickets must be sorted by from.
func judge(pages []page, tickets []Span, incidents []Incident) ([]detection, []judgedPage) {
	judged := make([]judgedPage, len(pages))
	for i, p := range pages {
		judged[i].page = p
	}
	var detections []detection
	for _, inc := range incidents {
		detections = append(detections, findPages(inc, judged, tickets))
	}
	for i := range judged {
		judged[i].SecondCall = judged[i].SecondCall && judged[i].Incident == ""
	}
	return detections, judged
}

// findPages finds the pages of one incident and marks them.
func findPages(inc Incident, pages []judgedPage, tickets []Span) detection {
	v := detection{Incident: inc, ToPage: math.Inf(1), ToTicket: math.Inf(1), ToResolve: math.NaN()}
	called := map[string]bool{} // by target
	for i := range pages {
		p := &pages[i]
		if p.From.Before(inc.From) || p.From.After(inc.To.Add(secondCall)) || !sameTarget(p.Target, inc.Target) {
			continue
		}
		switch late := p.From.Sub(inc.To); {
		case late > 0 && (called[p.Target] || called[""]):
			p.SecondCall = true
			continue
		case late > Grace:
			continue
		}
		called[p.Target] = true
		p.Incident = inc.Name
		v.Pages++
		if after := p.From.Sub(inc.From); v.Pages == 1 && after <= inc.Within {
			v.ToPage = after.Seconds()
		}
		// With several targets the page that begins last need not end last.
		v.ToResolve = max(0, p.To.Sub(inc.To).Seconds(), orZero(v.ToResolve))
	}
	v.ToTicket = toTicket(inc, tickets)
	return v
}

// toTicket returns the seconds until the first ticket.
func toTicket(inc Incident, tickets []Span) float64 {
	for _, t := range tickets {
		after := t.From.Sub(inc.From)
		if after >= 0 && after <= inc.Within && sameTarget(t.Labels.Get(labelTarget), inc.Target) {
			return after.Seconds()
		}
	}
	return math.Inf(1)
}

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
