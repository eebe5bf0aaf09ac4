package engine

import "gonum.org/v1/gonum/mathext"

// Outcome is the result of one run.
type Outcome struct {
	Days      float64
	Spans     []Span
	Incidents []Incident // sorted; none in a run without faults
}

// Score says how well the rules did in some runs.
type Score struct {
	World string
	Days  float64
	// False are the pages that belong to no incident.
	False Rate
	// Repeated counts the pages after the first one of an incident, until half an hour after its end.
	Repeated   int
	Detections []Detection
}

// NewScore scores the runs of a world.
func NewScore(world string, outcomes []Outcome) Score {
	s := Score{World: world}
	falsePages := 0
	for _, o := range outcomes {
		s.Days += o.Days
		pages, detections := o.Judge()
		s.Detections = append(s.Detections, detections...)
		for _, d := range detections {
			s.Repeated += max(0, d.Pages-1)
		}
		for _, p := range pages {
			if p.Incident == "" {
				falsePages++
			}
			if p.SecondCall {
				s.Repeated++
			}
		}
	}
	s.False = NewRate(falsePages, s.Days)
	return s
}

// notifications returns the pages and tickets of a run.
func notifications(spans []Span) (pages []Page, tickets []Span) {
	var paging []Span
	for _, s := range spans {
		if s.Labels.Get("severity") == "ticket" {
			tickets = append(tickets, s)
		} else {
			paging = append(paging, s)
		}
	}
	return mergePages(paging), tickets
}

// Rate is a count, and the same per 30 days with the exact 95 % interval of a Poisson count (Garwood).
type Rate struct {
	Count     int     `json:"count"`
	Per30Days float64 `json:"per_30_days"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
}

// NewRate returns the rate of a count in some days. At the low end of the interval, a count at least as large has a
// probability of 2.5 %; at the high end, a count at most as large has.
func NewRate(count int, days float64) Rate {
	const tail = 0.025
	scale := 30 / days
	r := Rate{Count: count, Per30Days: float64(count) * scale, High: scale * mathext.GammaIncRegInv(float64(count)+1, 1-tail)}
	if count > 0 {
		r.Low = scale * mathext.GammaIncRegInv(float64(count), tail)
	}
	return r
}
