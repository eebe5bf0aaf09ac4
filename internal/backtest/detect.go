package backtest

import (
	"math"
	"time"
)

// Incident is a labelled time in which something was wrong.
type Incident struct {
	Name     string
	From, To time.Time
	// Within is the time in which a page must come to count as found.
	Within time.Duration
	// Target is what it was wrong with; "" for every target.
	Target string
	// Forecast is the delay until a page, in seconds, that the sidecar exported just
	// before the incident: +Inf if it expected no page, NaN if it exported no delay
	// for such a fault. nil if the run did not look.
	Forecast *float64
}

// Detection is what a pager made of an incident.
type Detection struct {
	Incident Incident
	// Pages is how many pages came between its start and Grace after its end,
	// second calls left out.
	Pages int
	// ToPage is from the start of the incident to the first page, ToTicket to the
	// first ticket, +Inf if none came in time; ToResolve from its end to the end of
	// the last page, NaN if none came; all in seconds.
	ToPage, ToTicket, ToResolve float64
}

// ToEither is from the start of the incident to the first page or ticket.
func (v Detection) ToEither() float64 { return min(v.ToPage, v.ToTicket) }

const (
	// Grace is how long after the end of an incident a page still belongs to it:
	// what was measured lies in the past.
	Grace = 15 * time.Minute
	// secondCall is how long after the end of an incident that had its page
	// another one is a second call for it.
	secondCall = 30 * time.Minute
)

// Judged is a page and what it belongs to.
type Judged struct {
	Page
	// Incident is the name of what it belongs to, "" for nothing.
	Incident string
	// SecondCall says that it came within half an hour after the end of an incident
	// that had had its page. It belongs to nothing.
	SecondCall bool
}

// Detect sorts pages into incidents; tickets only tell when they came. Pages and
// tickets are in order of From.
func Detect(pages []Page, tickets []Span, incidents []Incident) ([]Detection, []Judged) {
	judged := make([]Judged, len(pages))
	for i, p := range pages {
		judged[i].Page = p
	}
	var detections []Detection
	for _, inc := range incidents {
		detections = append(detections, detect(inc, judged, tickets))
	}
	for i := range judged {
		judged[i].SecondCall = judged[i].SecondCall && judged[i].Incident == ""
	}
	return detections, judged
}

// detect looks for the pages of one incident, and marks them.
func detect(inc Incident, pages []Judged, tickets []Span) Detection {
	v := Detection{Incident: inc, ToPage: math.Inf(1), ToTicket: math.Inf(1), ToResolve: math.NaN()}
	called := map[string]bool{} // by target
	for i := range pages {
		p := &pages[i]
		if p.From.Before(inc.From) || p.From.After(inc.To.Add(secondCall)) || !covers(p.Target, inc.Target) {
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
		// With several targets the last to begin need not be the last to end.
		v.ToResolve = max(0, p.To.Sub(inc.To).Seconds(), orZero(v.ToResolve))
	}
	v.ToTicket = toTicket(inc, tickets)
	return v
}

// toTicket is how long it took until the first ticket, in seconds.
func toTicket(inc Incident, tickets []Span) float64 {
	for _, t := range tickets {
		after := t.From.Sub(inc.From)
		if after >= 0 && after <= inc.Within && covers(t.Labels.Get(labelTarget), inc.Target) {
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
