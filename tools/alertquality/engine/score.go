package engine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"synthetic/internal/rules"
)

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
	// False are the pages that belong to no incident. In FalseRegressions of them SyntheticRegression fired, and
	// SecondCalls of them came within half an hour after the end of an incident that already had a page.
	False                         Rate
	FalseRegressions, SecondCalls int
	// LongestFalse is in hours.
	LongestFalse float64
	Faults       []FaultScore
}

// FaultScore says how well the incidents of one name were found.
type FaultScore struct {
	Fault     string
	Incidents int
	// Found counts the incidents that were paged in time, FoundEither those with a page or a ticket in time.
	Found, FoundEither int
	// Seconds to a page, and to a page or a ticket. Missed incidents count as +Inf.
	MedianToPage, MedianToEither float64
	// Pages are all pages of Paged incidents.
	Pages, Paged int
}

// NewScore scores the runs of a world.
func NewScore(world string, faults []string, outcomes []Outcome) Score {
	s := Score{World: world}
	falsePages, byFault := 0, map[string][]Detection{}
	for _, o := range outcomes {
		s.Days += o.Days
		pages, detections := o.Judge()
		for _, d := range detections {
			byFault[d.Name] = append(byFault[d.Name], d)
		}
		for _, p := range pages {
			s.LongestFalse = max(s.LongestFalse, longestFalse(p, o.Incidents).Hours())
			if p.Incident != "" {
				continue
			}
			falsePages++
			if slices.Contains(p.Alerts, rules.AlertRegression) {
				s.FalseRegressions++
			}
			if p.SecondCall {
				s.SecondCalls++
			}
		}
	}
	s.False = NewRate(falsePages, s.Days)
	for _, name := range faults {
		if d := byFault[name]; len(d) > 0 {
			s.Faults = append(s.Faults, scoreFault(name, d))
		}
	}
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

func scoreFault(name string, detections []Detection) FaultScore {
	f := FaultScore{Fault: name, Incidents: len(detections)}
	var toPage, toEither []float64
	for _, d := range detections {
		either := min(d.ToPage, d.ToTicket)
		toPage, toEither = append(toPage, d.ToPage), append(toEither, either)
		if !math.IsInf(d.ToPage, 1) {
			f.Found++
		}
		if !math.IsInf(either, 1) {
			f.FoundEither++
		}
		if d.Pages > 0 {
			f.Pages, f.Paged = f.Pages+d.Pages, f.Paged+1
		}
	}
	f.MedianToPage, f.MedianToEither = median(toPage), median(toEither)
	return f
}

// median returns the smallest value that is at least as large as half of the values.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// Rate is a count, and the same per 30 days with the exact 95 % interval of a Poisson count (Garwood).
type Rate struct {
	Count                int
	Per30Days, Low, High float64
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
