package engine

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
}

// Detection says when alerts found an incident.
type Detection struct {
	Incident
	// Pages counts the pages from the start of the incident until Grace after its end, without second calls.
	Pages int
	// ToPage and ToTicket are the seconds from the start to the first page and the first ticket, +Inf if none came
	// in time.
	ToPage, ToTicket float64
}

// Judge returns the pages of a run, and when its incidents were found.
func (o Outcome) Judge() ([]Page, []Detection) {
	pages, tickets := notifications(o.Spans)
	return pages, judge(pages, tickets, o.Incidents)
}

const (
	// Grace is how long after the end of an incident a page still belongs to it, because alerts
	// look at measurements of the past.
	Grace = 15 * time.Minute
	// secondCall is how long after the end of an incident another page is a second call, if the
	// incident already had a page.
	secondCall = 30 * time.Minute
)

// judge assigns pages to incidents, and marks second calls. Tickets only give the time to the first
// ticket. Pages and tickets must be sorted by time.
func judge(pages []Page, tickets []Span, incidents []Incident) []Detection {
	var detections []Detection
	for _, incident := range incidents {
		detections = append(detections, findPages(incident, pages, tickets))
	}
	for i := range pages {
		pages[i].SecondCall = pages[i].SecondCall && pages[i].Incident == ""
	}
	return detections
}

// findPages finds the pages of one incident and marks them.
func findPages(incident Incident, pages []Page, tickets []Span) Detection {
	d := Detection{Incident: incident, ToPage: math.Inf(1), ToTicket: toTicket(incident, tickets)}
	for i := range pages {
		p := &pages[i]
		if p.Start.Before(incident.From) || p.Start.After(incident.To.Add(secondCall)) {
			continue
		}
		switch late := p.Start.Sub(incident.To); {
		case late > 0 && d.Pages > 0:
			p.SecondCall = true
			continue
		case late > Grace:
			continue
		}
		p.Incident = incident.Name
		d.Pages++
		if after := p.Start.Sub(incident.From); d.Pages == 1 && after <= incident.Within {
			d.ToPage = after.Seconds()
		}
	}
	return d
}

// toTicket returns the seconds until the first ticket, +Inf if none came in time.
func toTicket(incident Incident, tickets []Span) float64 {
	for _, t := range tickets {
		if after := t.From.Sub(incident.From); after >= 0 && after <= incident.Within {
			return after.Seconds()
		}
	}
	return math.Inf(1)
}
