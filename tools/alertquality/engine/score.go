package engine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"

	"synthetic/internal/rules"
)

// FaultScore says how well a rule set found the incidents of one name.
type FaultScore struct {
	Fault     string `json:"fault"`
	Incidents int    `json:"incidents"`
	// Found counts the incidents that were paged in time, FoundEither those with a page or a
	// ticket in time.
	Found       int `json:"found"`
	FoundEither int `json:"found_page_or_ticket"`
	// The shares of incidents with a page, a ticket, and either of them in time.
	Recall       float64 `json:"recall"`
	RecallTicket float64 `json:"recall_ticket"`
	RecallEither float64 `json:"recall_page_or_ticket"`
	// Times in seconds. Missed incidents count as +Inf in the times to a page or ticket; a
	// quantile that is +Inf is null. Times to resolve cover paged incidents only.
	MedianToPage    *float64 `json:"median_to_page_seconds"`
	P90ToPage       *float64 `json:"p90_to_page_seconds"`
	MedianToTicket  *float64 `json:"median_to_ticket_seconds"`
	P90ToTicket     *float64 `json:"p90_to_ticket_seconds"`
	MedianToEither  *float64 `json:"median_to_page_or_ticket_seconds"`
	P90ToEither     *float64 `json:"p90_to_page_or_ticket_seconds"`
	MedianToResolve *float64 `json:"median_to_resolve_seconds"`
	P90ToResolve    *float64 `json:"p90_to_resolve_seconds"`
	// PagesPerIncident is the mean over paged incidents. Above 1 means flapping.
	PagesPerIncident *float64 `json:"pages_per_incident"`
}

// Score says how well a rule set did, or one of its alerts.
type Score struct {
	Model string `json:"model"`
	Rules string `json:"rules"`
	// Alert is one alert of the rules; "" for all alerts together.
	Alert string `json:"alert,omitempty"`
	// Target is one target; "" for all of them. A page or ticket about the whole fleet finds
	// the incidents of every target. If it is false, it counts only in the score of all targets.
	Target string `json:"target,omitempty"`
	// Days is HealthyDays + FaultyDays.
	Days float64 `json:"days"`
	// AllFalsePages counts the pages on all days that belong to no incident. SecondCalls of
	// them came within half an hour after the end of an incident that already had a page.
	AllFalsePages rate `json:"pages_for_nothing"`
	SecondCalls   int  `json:"second_calls"`
	// firing covers the pages, and Tickets covers each ticket alert by itself.
	firing
	Tickets ticketScore `json:"tickets"`
	// TurnsPerDay and BurstsPerDay count the simulated probes on days without faults.
	TurnsPerDay  *float64 `json:"turns_per_day,omitempty"`
	BurstsPerDay *float64 `json:"bursts_per_day,omitempty"`
	// Pages lists every page if there was only one run.
	Pages []Page `json:"pages,omitempty"`
	// HealthyDays are the days of runs without any incident, and HealthyPages the pages on
	// them.
	HealthyDays  float64 `json:"healthy_days"`
	HealthyPages int     `json:"healthy_pages"`
	// FalsePer30Days is HealthyPages per 30 days; null without healthy days.
	FalsePer30Days *float64 `json:"false_pages_per_30_days"`
	// FaultyDays are the days of runs with incidents. FalsePages on them belong to no incident,
	// TruePages do.
	FaultyDays float64      `json:"faulty_days"`
	FalsePages int          `json:"false_pages"`
	TruePages  int          `json:"true_pages"`
	Precision  *float64     `json:"precision"`
	Faults     []FaultScore `json:"faults"`
}

// ticketScore counts tickets like pages, but does not merge the alerts of a target.
type ticketScore struct {
	firing
	Count int `json:"count"`
	// ForNothing of them belong to no incident.
	ForNothing int `json:"count_for_nothing"`
	// List has every ticket if there was only one run.
	List []Page `json:"list,omitempty"`
}

func (s *ticketScore) add(sent notifications, incidents []Incident) {
	tickets := make([]Page, len(sent.tickets))
	for i, span := range sent.tickets {
		tickets[i] = newPage(span)
	}
	judge(tickets, nil, incidents)
	tickets = sent.ofTarget(tickets)
	for _, t := range tickets {
		s.Count++
		if t.Incident == "" {
			s.ForNothing++
		}
	}
	s.firing.add(tickets, incidents)
	s.List = append(s.List, tickets...)
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

// ScoreSets scores runs. Each rule set gets a score for all targets, one for each target that
// the outcomes name, and one for each of its alerts.
func ScoreSets(model string, sets []*RuleSet, faults []string, outcomes []Outcome) []Score {
	var scores []Score
	for i, set := range sets {
		fired := make([][]Span, len(outcomes))
		for n, o := range outcomes {
			fired[n] = inhibit(o.Spans[i], rules.Inhibitions())
		}
		score := func(alert, target string) {
			t := newTally(faults)
			for n, o := range outcomes {
				t.add(set.notifications(fired[n], alert, target), incidentsOf(o.Incidents, target), o.Days)
			}
			s := t.score()
			s.Model, s.Rules, s.Alert, s.Target = model, set.Name, alert, target
			if alert != "" || len(outcomes) > 1 {
				s.Pages, s.Tickets.List = nil, nil
			}
			scores = append(scores, s)
		}
		score("", "")
		for _, target := range targetsOf(outcomes) {
			score("", target)
		}
		for _, alert := range set.alerts() {
			score(alert, "")
		}
	}
	return scores
}

func targetsOf(outcomes []Outcome) []string {
	var all []string
	for _, o := range outcomes {
		all = append(all, o.Targets...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// notifications are what a pager sends in a run.
type notifications struct {
	pages   []Page
	tickets []Span
	// target is the only target whose false pages and tickets count; "" means all.
	target string
}

// ofTarget removes false pages or tickets about the whole fleet, which do not count for a single target.
func (n notifications) ofTarget(all []Page) []Page {
	return slices.DeleteFunc(all, func(p Page) bool { return p.Target != n.target && n.target != "" && p.Incident == "" })
}

// notifications returns the pages and tickets of a run about a target and about the whole fleet. ""
// means all alerts, or all targets.
func (s *RuleSet) notifications(spans []Span, alert, target string) notifications {
	var pages, tickets []Span
	for _, span := range spans {
		switch {
		case alert != "" && span.Alert != alert, !sameTarget(span.Labels.Get(labelTarget), target):
		case slices.Contains(s.Tickets, span.Labels.Get(labelSeverity)):
			tickets = append(tickets, span)
		default:
			pages = append(pages, span)
		}
	}
	return notifications{mergePages(pages), tickets, target}
}

// tally sums up the runs of one Score.
type tally struct {
	sum     Score
	faults  []string // in order
	byFault map[string][]detection
}

func newTally(faults []string) *tally {
	return &tally{faults: faults, byFault: map[string][]detection{}}
}

// add adds a run. A run without incidents is healthy.
func (t *tally) add(sent notifications, incidents []Incident, days float64) {
	detections := judge(sent.pages, sent.tickets, incidents)
	pages := sent.ofTarget(sent.pages)
	falsePages := 0
	for _, p := range pages {
		if p.Incident == "" {
			falsePages++
		}
		if p.SecondCall {
			t.sum.SecondCalls++
		}
	}
	t.sum.Pages = append(t.sum.Pages, pages...)
	t.sum.firing.add(pages, incidents)
	t.sum.Tickets.add(sent, incidents)
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

func (t *tally) score() Score {
	s := t.sum
	s.Days = s.HealthyDays + s.FaultyDays
	s.AllFalsePages = newRate(s.HealthyPages+s.FalsePages, s.Days)
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

func scoreFault(name string, detections []detection) FaultScore {
	var toPage, toTicket, toEither, toResolve []float64
	pages := 0
	for _, v := range detections {
		toPage, toTicket, toEither = append(toPage, v.ToPage), append(toTicket, v.ToTicket), append(toEither, min(v.ToPage, v.ToTicket))
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
		MedianToPage: quantile(toPage, 0.5), P90ToPage: quantile(toPage, 0.9),
		MedianToTicket: quantile(toTicket, 0.5), P90ToTicket: quantile(toTicket, 0.9),
		MedianToEither: quantile(toEither, 0.5), P90ToEither: quantile(toEither, 0.9),
		MedianToResolve: quantile(toResolve, 0.5), P90ToResolve: quantile(toResolve, 0.9),
		PagesPerIncident: finite(float64(pages) / float64(len(toResolve))),
	}
}

func inTime(times []float64) (n int) {
	for _, v := range times {
		if !math.IsInf(v, 0) {
			n++
		}
	}
	return n
}

// month is the number of days that rates are given for.
const month = 30

// rate is a count and the same per 30 days, each with the exact 95 % interval of a Poisson
// count (Garwood).
type rate struct {
	Count     int     `json:"count"`
	CountLow  float64 `json:"count_low"`
	CountHigh float64 `json:"count_high"`
	// The rates are null without any day.
	Per30Days     *float64 `json:"per_30_days"`
	Per30DaysLow  *float64 `json:"per_30_days_low"`
	Per30DaysHigh *float64 `json:"per_30_days_high"`
}

// newRate returns the rate of a count in some days. At the low end of the interval, a count at least
// as large has a probability of 2.5 %; at the high end, a count at most as large has.
func newRate(count int, days float64) rate {
	const tail = 0.025
	r := rate{Count: count, CountHigh: mathext.GammaIncRegInv(float64(count)+1, 1-tail)}
	if count > 0 {
		r.CountLow = mathext.GammaIncRegInv(float64(count), tail)
	}
	if days > 0 {
		r.Per30Days = finite(float64(count) * month / days)
		r.Per30DaysLow, r.Per30DaysHigh = finite(r.CountLow*month/days), finite(r.CountHigh*month/days)
	}
	return r
}

// quantile returns the smallest value that is at least as large as a share q of the values; nil
// without values, or if it is infinite.
func quantile(values []float64, q float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	return finite(stat.Quantile(q, stat.Empirical, slices.Sorted(slices.Values(values)), nil))
}

// finite returns nil for NaN and infinity, which JSON cannot hold.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
