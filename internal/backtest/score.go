package backtest

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// Page is a time in which at least one alert of a pager fired, without a
// break. Alertmanager groups by target, so one page is one call.
type Page struct{ From, To time.Time }

// Pages merges spans that overlap or touch. If alert is not "", only spans of
// that alert count.
func Pages(spans []Span, alert string) []Page {
	var pages []Page
	for _, s := range spans { // in order of From
		if alert != "" && s.Alert != alert {
			continue
		}
		if n := len(pages); n > 0 && !s.From.After(pages[n-1].To) {
			if s.To.After(pages[n-1].To) {
				pages[n-1].To = s.To
			}
			continue
		}
		pages = append(pages, Page{s.From, s.To})
	}
	return pages
}

// Incident is a labelled time in which something was wrong.
type Incident struct {
	Name     string
	From, To time.Time
	// Within is the time in which a page must come to count as found.
	Within time.Duration
}

// Detection is what a pager made of an incident.
type Detection struct {
	Incident Incident
	// Pages is how many pages came between its start and grace after its end.
	Pages int
	// ToPage is from the start of the incident to the first page, +Inf if none
	// came in time, and ToResolve from its end to the end of the last page, NaN
	// if none came; both in seconds.
	ToPage, ToResolve float64
}

// Found says that a page came in time.
func (v Detection) Found() bool { return !math.IsInf(v.ToPage, 1) }

// grace is how long after the end of an incident a page still belongs to it:
// what was measured lies in the past.
const grace = 15 * time.Minute

// Detect sorts pages into incidents and returns how many belong to none.
func Detect(pages []Page, incidents []Incident) (detections []Detection, falsePages int) {
	used := make([]bool, len(pages))
	for _, inc := range incidents {
		v := Detection{Incident: inc, ToPage: math.Inf(1), ToResolve: math.NaN()}
		for i, p := range pages {
			if p.From.Before(inc.From) || p.From.After(inc.To.Add(grace)) {
				continue
			}
			used[i] = true
			v.Pages++
			if after := p.From.Sub(inc.From); v.Pages == 1 && after <= inc.Within {
				v.ToPage = after.Seconds()
			}
			v.ToResolve = max(0, p.To.Sub(inc.To).Seconds())
		}
		detections = append(detections, v)
	}
	for _, u := range used {
		if !u {
			falsePages++
		}
	}
	return detections, falsePages
}

// FaultScore is how a pager did on one kind of fault.
type FaultScore struct {
	Fault     string  `json:"fault"`
	Incidents int     `json:"incidents"`
	Recall    float64 `json:"recall"`
	// Times in seconds. Those to page are of all incidents, missed ones at +Inf
	// (null); those to resolve of the paged ones.
	MedianToPage    *float64 `json:"median_to_page_seconds"`
	P90ToPage       *float64 `json:"p90_to_page_seconds"`
	MedianToResolve *float64 `json:"median_to_resolve_seconds"`
	P90ToResolve    *float64 `json:"p90_to_resolve_seconds"`
	// PagesPerIncident is of the paged ones; above 1 is flapping.
	PagesPerIncident *float64 `json:"pages_per_incident"`
}

// Score is how a pager did.
type Score struct {
	Model string `json:"model"`
	Rules string `json:"rules"`
	// Alert is one alert of the rules, "" for all of them as one pager.
	Alert string `json:"alert,omitempty"`
	// HealthyDays are those without any incident, in runs of their own, and
	// HealthyPages the pages on them.
	HealthyDays  float64 `json:"healthy_days"`
	HealthyPages int     `json:"healthy_pages"`
	// FalsePer30Days is HealthyPages per 30 days; null without healthy days.
	FalsePer30Days *float64 `json:"false_pages_per_30_days"`
	// FaultyDays are those of the runs with incidents, FalsePages the pages on
	// them that belong to no incident, and TruePages those that do.
	FaultyDays float64      `json:"faulty_days"`
	FalsePages int          `json:"false_pages"`
	TruePages  int          `json:"true_pages"`
	Precision  *float64     `json:"precision"`
	Faults     []FaultScore `json:"faults"`
}

// scoreSets scores the outcomes of runs: each set as one pager, and then each of
// its alerts alone.
func scoreSets(model string, sets []*RuleSet, faults []string, outcomes []outcome) []Score {
	var scores []Score
	for i, set := range sets {
		for _, alert := range append([]string{""}, set.Alerts()...) {
			t := newTally(faults)
			for _, o := range outcomes {
				t.add(Pages(o.spans[i], alert), o.incidents, o.days)
			}
			s := t.score()
			s.Model, s.Rules, s.Alert = model, set.Name, alert
			scores = append(scores, s)
		}
	}
	return scores
}

// tally sums up the runs of a Score.
type tally struct {
	sum     Score
	faults  []string // in order
	byFault map[string][]Detection
}

func newTally(faults []string) *tally {
	return &tally{faults: faults, byFault: map[string][]Detection{}}
}

// add takes a run; one without incidents is a healthy one.
func (t *tally) add(pages []Page, incidents []Incident, days float64) {
	detections, falsePages := Detect(pages, incidents)
	if len(incidents) == 0 {
		t.sum.HealthyDays += days
		t.sum.HealthyPages += falsePages
		return
	}
	t.sum.FaultyDays += days
	t.sum.FalsePages += falsePages
	t.sum.TruePages += len(pages) - falsePages
	for _, d := range detections {
		t.byFault[d.Incident.Name] = append(t.byFault[d.Incident.Name], d)
	}
}

// score adds the figures that are quotients.
func (t *tally) score() Score {
	s := t.sum
	if s.HealthyDays > 0 {
		s.FalsePer30Days = finite(float64(s.HealthyPages) * 30 / s.HealthyDays)
	}
	if all := s.TruePages + s.FalsePages; all > 0 {
		s.Precision = finite(float64(s.TruePages) / float64(all))
	}
	for _, name := range t.faults {
		if d := t.byFault[name]; len(d) > 0 {
			s.Faults = append(s.Faults, scoreFault(name, d))
		}
	}
	return s
}

func scoreFault(name string, detections []Detection) FaultScore {
	var toPage, toResolve []float64
	found, pages, paged := 0, 0, 0
	for _, v := range detections {
		toPage = append(toPage, v.ToPage)
		if v.Found() {
			found++
		}
		if v.Pages > 0 {
			paged++
			pages += v.Pages
			toResolve = append(toResolve, v.ToResolve)
		}
	}
	return FaultScore{
		Fault: name, Incidents: len(detections), Recall: float64(found) / float64(len(detections)),
		MedianToPage: finite(quantile(toPage, 0.5)), P90ToPage: finite(quantile(toPage, 0.9)),
		MedianToResolve: finite(quantile(toResolve, 0.5)), P90ToResolve: finite(quantile(toResolve, 0.9)),
		PagesPerIncident: finite(float64(pages) / float64(paged)),
	}
}

// quantile is the smallest value that at least a share q of the values do not
// exceed; NaN of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return stat.Quantile(q, stat.Empirical, slices.Sorted(slices.Values(values)), nil)
}

// finite is nil for what JSON cannot say and no one measured.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
