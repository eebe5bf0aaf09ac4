package backtest

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"synthetic/internal/rules"
)

// FaultScore is how a pager did on one kind of fault.
type FaultScore struct {
	Fault string `json:"fault"`
	// Incidents is how many of them there were.
	Incidents int `json:"incidents"`
	// Found is how many were paged in time, FoundEither of how many a page or a
	// ticket came in time.
	Found       int `json:"found"`
	FoundEither int `json:"found_page_or_ticket"`
	// Recall is the share that was paged in time, RecallTicket that of which a
	// ticket came in time, RecallEither that of either.
	Recall       float64 `json:"recall"`
	RecallTicket float64 `json:"recall_ticket"`
	RecallEither float64 `json:"recall_page_or_ticket"`
	// Times in seconds. Those to page, to ticket and to either are of all incidents,
	// missed ones at +Inf (null); those to resolve of the paged ones.
	MedianToPage    *float64 `json:"median_to_page_seconds"`
	P90ToPage       *float64 `json:"p90_to_page_seconds"`
	MedianToTicket  *float64 `json:"median_to_ticket_seconds"`
	P90ToTicket     *float64 `json:"p90_to_ticket_seconds"`
	MedianToEither  *float64 `json:"median_to_page_or_ticket_seconds"`
	P90ToEither     *float64 `json:"p90_to_page_or_ticket_seconds"`
	MedianToResolve *float64 `json:"median_to_resolve_seconds"`
	P90ToResolve    *float64 `json:"p90_to_resolve_seconds"`
	// PagesPerIncident is of the paged ones; above 1 is flapping.
	PagesPerIncident *float64 `json:"pages_per_incident"`
	// Forecast is what was said to be seen; null where nothing was said.
	Forecast *ForecastScore `json:"forecast,omitempty"`
}

// Score is how a pager did.
type Score struct {
	Model string `json:"model"`
	Rules string `json:"rules"`
	// Alert is one alert of the rules, "" for all of them as one pager.
	Alert string `json:"alert,omitempty"`
	// Target is one target, "" for all of them. A page about the whole fleet finds
	// the incidents of each target, and belongs to nothing only here.
	Target string `json:"target,omitempty"`
	// Days are all that were scored: HealthyDays and FaultyDays.
	Days float64 `json:"days"`
	// ForNothing are the pages on all days that belong to no incident, SecondCalls
	// those of them within half an hour after one that had its page.
	ForNothing  Rate `json:"pages_for_nothing"`
	SecondCalls int  `json:"second_calls"`
	// Firing is for how long the pages fired, Tickets for how long the tickets did,
	// each alert by itself.
	Firing
	Tickets Firing `json:"tickets"`
	// TurnsPerDay and BurstsPerDay are those of the probes on days without faults;
	// null where they are not simulated.
	TurnsPerDay  *float64 `json:"turns_per_day,omitempty"`
	BurstsPerDay *float64 `json:"bursts_per_day,omitempty"`
	// Pages lists every page, if there was one run.
	Pages []PageScore `json:"pages,omitempty"`
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

// PageScore is one page.
type PageScore struct {
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	Alerts []string  `json:"alerts"`
	Target string    `json:"target,omitempty"`
	// Incident is what it belongs to, "" for nothing.
	Incident   string `json:"incident,omitempty"`
	SecondCall bool   `json:"second_call,omitempty"`
}

// Outcome is the result of one run.
type Outcome struct {
	Days float64
	// Spans holds the alerts that fired, by rule file.
	Spans     [][]Span
	Incidents []Incident
	// Targets are the targets that also get a score of their own.
	Targets []string
}

// ScoreSets scores the outcomes of runs: each set as one pager, for all targets
// and for each that the outcomes name, and then each of its alerts alone.
func ScoreSets(model string, sets []*RuleSet, faults []string, outcomes []Outcome) []Score {
	var scores []Score
	for i, set := range sets {
		said := make([][]Span, len(outcomes))
		for n, o := range outcomes {
			said[n] = Inhibit(o.Spans[i], rules.Inhibitions())
		}
		score := func(alert, target string) {
			t := newTally(faults)
			for n, o := range outcomes {
				t.add(set.calls(said[n], alert).of(target), incidentsOf(o.Incidents, target), o.Days)
			}
			s := t.score()
			s.Model, s.Rules, s.Alert, s.Target = model, set.Name, alert, target
			if alert != "" || len(outcomes) > 1 {
				s.Pages = nil
			}
			scores = append(scores, s)
		}
		score("", "")
		for _, target := range targetsOf(outcomes) {
			score("", target)
		}
		for _, alert := range set.Alerts() {
			score(alert, "")
		}
	}
	return scores
}

// targetsOf are the targets that outcomes name.
func targetsOf(outcomes []Outcome) []string {
	var all []string
	for _, o := range outcomes {
		all = append(all, o.Targets...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// incidentsOf are those that a target, "" for any, had.
func incidentsOf(all []Incident, target string) []Incident {
	return slices.DeleteFunc(slices.Clone(all), func(i Incident) bool { return !covers(i.Target, target) })
}

// calls are what a pager says in a run.
type calls struct {
	pages   []Page
	tickets []Span
	// target restricts what belongs to nothing to that target, "" to all.
	target string
}

// calls tells the pages from the tickets of a run. If alert is not "", only spans
// of that alert count.
func (s *RuleSet) calls(spans []Span, alert string) calls {
	var pages, tickets []Span
	for _, one := range spans {
		switch {
		case alert != "" && one.Alert != alert:
		case slices.Contains(s.tickets, one.Labels.Get(labelSeverity)):
			tickets = append(tickets, one)
		default:
			pages = append(pages, one)
		}
	}
	return calls{pages: Pages(pages, ""), tickets: tickets}
}

// of are the calls that a target gets, "" for all: its own, and those for the
// whole fleet.
func (c calls) of(target string) calls {
	return calls{
		slices.DeleteFunc(slices.Clone(c.pages), func(p Page) bool { return !covers(p.Target, target) }),
		slices.DeleteFunc(slices.Clone(c.tickets), func(s Span) bool { return !covers(s.Labels.Get(labelTarget), target) }),
		target,
	}
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
func (t *tally) add(c calls, incidents []Incident, days float64) {
	detections, judged := Detect(c.pages, c.tickets, incidents)
	// What is about the whole fleet and belongs to nothing is nothing of a single
	// target's.
	judged = slices.DeleteFunc(judged, func(j Judged) bool { return j.Target != c.target && c.target != "" && j.Incident == "" })
	nothing := 0
	var all []Page
	for _, j := range judged {
		if j.Incident == "" {
			nothing++
		}
		if j.SecondCall {
			t.sum.SecondCalls++
		}
		all = append(all, j.Page)
		t.sum.Pages = append(t.sum.Pages, PageScore{j.From.UTC(), j.To.UTC(), j.Alerts, j.Target, j.Incident, j.SecondCall})
	}
	t.sum.Firing.add(all, incidents)
	t.sum.Tickets.add(alone(c.tickets), incidents)
	if len(incidents) == 0 {
		t.sum.HealthyDays += days
		t.sum.HealthyPages += nothing
		return
	}
	t.sum.FaultyDays += days
	t.sum.FalsePages += nothing
	t.sum.TruePages += len(judged) - nothing
	for _, d := range detections {
		t.byFault[d.Incident.Name] = append(t.byFault[d.Incident.Name], d)
	}
}

// alone are spans as pages of one alert each.
func alone(spans []Span) []Page {
	var pages []Page
	for _, s := range spans {
		pages = append(pages, Page{s.From, s.To, s.Labels.Get(labelTarget), []string{s.Alert}})
	}
	return pages
}

// score adds the figures that are quotients.
func (t *tally) score() Score {
	s := t.sum
	s.Days = s.HealthyDays + s.FaultyDays
	s.ForNothing = NewRate(s.HealthyPages+s.FalsePages, s.Days)
	if s.HealthyDays > 0 {
		s.FalsePer30Days = finite(float64(s.HealthyPages) * month / s.HealthyDays)
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
	var toPage, toTicket, toEither, toResolve []float64
	pages := 0
	for _, v := range detections {
		toPage, toTicket, toEither = append(toPage, v.ToPage), append(toTicket, v.ToTicket), append(toEither, v.ToEither())
		if v.Pages > 0 {
			pages += v.Pages
			toResolve = append(toResolve, v.ToResolve)
		}
	}
	share := func(n int) float64 { return float64(n) / float64(len(detections)) }
	found, either := inTime(toPage), inTime(toEither)
	return FaultScore{
		Fault: name, Incidents: len(detections), Found: found, FoundEither: either,
		Recall: share(found), RecallTicket: share(inTime(toTicket)), RecallEither: share(either),
		MedianToPage: finite(quantile(toPage, 0.5)), P90ToPage: finite(quantile(toPage, 0.9)),
		MedianToTicket: finite(quantile(toTicket, 0.5)), P90ToTicket: finite(quantile(toTicket, 0.9)),
		MedianToEither: finite(quantile(toEither, 0.5)), P90ToEither: finite(quantile(toEither, 0.9)),
		MedianToResolve: finite(quantile(toResolve, 0.5)), P90ToResolve: finite(quantile(toResolve, 0.9)),
		PagesPerIncident: finite(float64(pages) / float64(len(toResolve))), Forecast: scoreForecasts(detections),
	}
}

// inTime is how many times are not infinite.
func inTime(times []float64) int {
	n := 0
	for _, v := range times {
		if !math.IsInf(v, 0) {
			n++
		}
	}
	return n
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
