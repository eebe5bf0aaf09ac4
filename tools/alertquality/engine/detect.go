package engine

import (
	"math"
	"slices"
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
}

// incidentsOf returns the incidents of a target; "" means all targets.
func incidentsOf(all []Incident, target string) []Incident {
	return slices.DeleteFunc(slices.Clone(all), func(i Incident) bool { return !sameTarget(i.Target, target) })
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
func judge(pages []Page, tickets []Span, incidents []Incident) []detection {
	var detections []detection
	for _, incident := range incidents {
		detections = append(detections, findPages(incident, pages, tickets))
	}
	for i := range pages {
		pages[i].SecondCall = pages[i].SecondCall && pages[i].Incident == ""
	}
	return detections
}

// findPages finds the pages of one incident and marks them.
func findPages(incident Incident, pages []Page, tickets []Span) detection {
	d := detection{Incident: incident, ToPage: math.Inf(1), ToTicket: toTicket(incident, tickets), ToResolve: math.NaN()}
	called := map[string]bool{} // by target
	for i := range pages {
		p := &pages[i]
		if p.Start.Before(incident.From) || p.Start.After(incident.To.Add(secondCall)) || !sameTarget(p.Target, incident.Target) {
			continue
		}
		switch late := p.Start.Sub(incident.To); {
		case late > 0 && (called[p.Target] || called[""]):
			p.SecondCall = true
			continue
		case late > Grace:
			continue
		}
		called[p.Target] = true
		p.Incident = incident.Name
		d.Pages++
		if after := p.Start.Sub(incident.From); d.Pages == 1 && after <= incident.Within {
			d.ToPage = after.Seconds()
		}
		// With several targets the page that begins last need not end last.
		toResolve := max(0, p.End.Sub(incident.To).Seconds())
		if d.Pages == 1 || toResolve > d.ToResolve {
			d.ToResolve = toResolve
		}
	}
	return d
}

// toTicket returns the seconds until the first ticket, +Inf if none came in time.
func toTicket(incident Incident, tickets []Span) float64 {
	for _, t := range tickets {
		after := t.From.Sub(incident.From)
		if after >= 0 && after <= incident.Within && sameTarget(t.Labels.Get(labelTarget), incident.Target) {
			return after.Seconds()
		}
	}
	return math.Inf(1)
}
