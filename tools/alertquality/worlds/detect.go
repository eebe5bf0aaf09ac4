package worlds

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"synthetic/internal/backtest"
)

// Detected says how well the detector of regressions alone did in one world.
type Detected struct {
	// Score covers the pages and tickets of each job by itself. Its days are days of one job.
	backtest.Score
	Jobs int `json:"jobs"`
	// FalseTickets began outside all faults, and not only while a page hid them.
	FalseTickets          int     `json:"false_tickets"`
	FalseTicketsPer30Days float64 `json:"false_tickets_per_30_days"`
	// Promised is the expected number of false pages of a job in 30 days that the detector
	// exports, as the sum over its signals and the mean over the time; null if it never exported
	// one.
	Promised *float64 `json:"promised_false_pages_per_30_days"`
	// Warming is the share of the time without a promise.
	Warming float64 `json:"share_without_promise"`
	// EverBlind counts the runs of a job that had the alert SyntheticRegressionBlind at any time.
	EverBlind int `json:"jobs_ever_blind"`
	// OpenTickets and OpenBlind are the tickets and the blind jobs at one time on healthy days,
	// over all jobs.
	OpenTickets Open `json:"open_tickets"`
	OpenBlind   Open `json:"open_blind"`
	// PagesPerWeek counts the pages of all jobs together on healthy days.
	PagesPerWeek float64 `json:"pages_per_week"`
	// Turns is the number of simulated turns, with the warm-up.
	Turns int `json:"turns"`
}

// Open describes how many alerts are open at one time.
type Open struct {
	Mean float64 `json:"mean"`
	P90  float64 `json:"p90"`
	Most float64 `json:"most"`
}

// Detect plays all runs into the tracker of baselines alone, without metrics and rules. A fleet
// also gets a result for each model in it.
func (c Campaign) Detect(ctx context.Context) ([]Detected, error) {
	var jobs []watchedJob
	for _, k := range c.keys() {
		o := c.options(k)
		for i := range o.Deployments {
			jobs = append(jobs, watchedJob{key: k, options: o, deployment: o.Deployments[i]})
		}
	}
	err := c.inParallel(len(jobs), func(i int) error {
		jobs[i].play(time.Duration(c.WarmUp) * day)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	var out []Detected
	for _, w := range c.worlds() {
		in := func(j watchedJob) bool { return j.key.world.name == w.name }
		out = append(out, c.detected(w.name, jobs, in))
		for _, m := range c.Models {
			of := func(j watchedJob) bool { return in(j) && j.deployment.Model.Name == m.Name }
			if c.Fleet > 0 && slices.ContainsFunc(jobs, of) {
				out = append(out, c.detected(m.Name, jobs, of))
			}
		}
	}
	return out, nil
}

// detected scores some of the jobs.
func (c Campaign) detected(name string, jobs []watchedJob, in func(watchedJob) bool) Detected {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j watchedJob) bool { return !in(j) })
	var faults []string
	for _, f := range c.Faults {
		faults = append(faults, f.Name)
	}
	detector := &backtest.RuleSet{RuleFile: backtest.RuleFile{Name: "detector", RuleOptions: backtest.RuleOptions{Tickets: []string{ticketSeverity}}}}
	var d Detected
	var outcomes []backtest.Outcome
	var minutes, promised, known float64
	for _, j := range jobs {
		outcomes = append(outcomes, j.outcome(float64(c.Days)))
		d.FalseTickets += j.falseTickets()
		d.Turns += j.turns
		minutes += float64(len(j.tickets))
		promised, known = promised+j.promised, known+j.known
		if slices.Contains(j.blind, true) {
			d.EverBlind++
		}
	}
	d.Score = backtest.ScoreSets(name, []*backtest.RuleSet{detector}, faults, outcomes)[0]
	d.FalseTicketsPer30Days = float64(d.FalseTickets) * 30 / d.Days
	d.Warming = 1 - known/minutes
	if known > 0 {
		mean := promised / known
		d.Promised = &mean
	}
	d.open(jobs)
	return d
}

// open computes the figures of all jobs together, on healthy days.
func (d *Detected) open(jobs []watchedJob) {
	var tickets, blind []float64
	bySeed := map[uint64][]watchedJob{}
	for _, j := range jobs {
		if !j.key.faulty {
			bySeed[j.key.seed] = append(bySeed[j.key.seed], j)
		}
	}
	for _, together := range bySeed {
		d.Jobs = len(together)
		tickets = append(tickets, sum(together, watchedJob.visibleTickets)...)
		blind = append(blind, sum(together, func(j watchedJob) []bool { return j.blind })...)
	}
	d.OpenTickets, d.OpenBlind = openOf(tickets), openOf(blind)
	d.PagesPerWeek = float64(d.HealthyPages) * 7 * float64(d.Jobs) / d.HealthyDays
}

// sum counts in each minute the jobs for which a state holds.
func sum(jobs []watchedJob, state func(watchedJob) []bool) []float64 {
	var out []float64
	for _, j := range jobs {
		holds := state(j)
		if out == nil {
			out = make([]float64, len(holds))
		}
		for i, up := range holds {
			if up {
				out[i]++
			}
		}
	}
	return out
}

func openOf(counts []float64) Open {
	slices.Sort(counts)
	return Open{stat.Mean(counts, nil), stat.Quantile(0.9, stat.Empirical, counts, nil), floats.Max(counts)}
}

const (
	pageSeverity, ticketSeverity = "page", "ticket"
	// Pages less than bridged apart are one page, and so are tickets.
	bridged = 10
	// hiding is how long after a page its ticket is not sent, in minutes, as in the rules.
	hiding = 30
)

// visibleTickets returns the minutes with a ticket that no page hides.
func (j watchedJob) visibleTickets() []bool {
	out, paged := make([]bool, len(j.tickets)), -hiding
	for i, up := range j.tickets {
		if j.pages[i] {
			paged = i
		}
		out[i] = up && i-paged >= hiding
	}
	return out
}

// stretch is a range of minutes [from, to).
type stretch struct{ from, to int }

// stretches returns the stretches of true minutes, with short gaps bridged.
func stretches(minutes []bool) []stretch {
	var out []stretch
	for i, up := range minutes {
		switch n := len(out); {
		case !up:
		case n > 0 && i-out[n-1].to < bridged:
			out[n-1].to = i + 1
		default:
			out = append(out, stretch{i, i + 1})
		}
	}
	return out
}

// outcome returns the pages and tickets as alerts.
func (j watchedJob) outcome(days float64) backtest.Outcome {
	o := backtest.Outcome{Days: days, Incidents: j.incidents()}
	var spans []backtest.Span
	for severity, minutes := range map[string][]bool{pageSeverity: j.pages, ticketSeverity: j.tickets} {
		at := labels.FromStrings("severity", severity, "target", j.deployment.Target)
		for _, s := range stretches(minutes) {
			spans = append(spans, backtest.Span{Alert: severity, Labels: at, From: j.time(s.from), To: j.time(s.to)})
		}
	}
	slices.SortFunc(spans, func(a, b backtest.Span) int { return a.From.Compare(b.From) })
	o.Spans = [][]backtest.Span{spans}
	return o
}

// falseTickets counts the tickets that began outside all faults and were sent.
func (j watchedJob) falseTickets() (n int) {
	visible := j.visibleTickets()
	for _, s := range stretches(j.tickets) {
		during := func(i backtest.Incident) bool {
			at := j.time(s.from)
			return !at.Before(i.From) && !at.After(i.To.Add(backtest.Grace))
		}
		if slices.Contains(visible[s.from:s.to], true) && !slices.ContainsFunc(j.incidents(), during) {
			n++
		}
	}
	return n
}
