package status

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// cardsShown bounds the jobs with full details on one page.
const cardsShown = 20

type overview struct {
	head
	Snapshot Snapshot
	// all jobs, worst first, if there are several
	Fleet []card
	Cards []card
	Open  []incident
	// Calm says that no incident is open, "" if one is or if this process knows of none.
	Calm string
	// number of jobs that are only judged in part
	InPart int
	Groups []group
	// reason why the pager is stalled, "" if it is not
	Stalled string
	// query of the page without the time range
	Query string
}

type card struct {
	Job
	State state
	// largest ratio to a baseline
	Worst multiple
	// link to the open incident, "" without one
	Incident string
	Spark    string
	Rows     []row
	Charts   []template.HTML
	// Ranges link to other time ranges; Path is "" for the current one.
	Ranges []link
}

// row is a line of the table of figures.
type row struct {
	Name string
	quantiles
	Note bool // a note on the row above
}

// rows returns the quantiles of a job's recent turns. The TTFT with failures has a row only if
// it differs; benchmark figures have rows if there is a benchmark.
func rows(r recentFigures, e *expectedFigures) []row {
	if e == nil {
		e = &expectedFigures{}
	}
	var out []row
	add := func(name string, q, all, expected quantiles) {
		out = append(out, row{Name: name, quantiles: q})
		if all.Count != q.Count {
			out = append(out, row{"… with failures as ∞", all, true})
		}
		if expected.P50.OK || expected.P95.OK || expected.P99.OK {
			out = append(out, row{"… expected", expected, true})
		}
	}
	add("TTFT, first turn", r.First.TTFT, r.First.TTFTAll, e.First.TTFT)
	add("TTFT, follow-up", r.Followup.TTFT, r.Followup.TTFTAll, e.Followup.TTFT)
	add("TPOT, first turn", r.First.TPOT, r.First.TPOT, e.First.TPOT)
	add("TPOT, follow-up", r.Followup.TPOT, r.Followup.TPOT, e.Followup.TPOT)
	return out
}

// state is a state in words, with the class of its colour.
type state struct{ Class, Text string }

// rank is smaller for worse states.
func (s state) rank() int { return slices.Index([]string{"bad", "warn", "unknown", "good"}, s.Class) }

// rangesOf returns the requested time range, and links to the others.
func rangesOf(query url.Values) (wanted time.Duration, links []link) {
	ranges := map[string]time.Duration{"1h": time.Hour, "3h": 3 * time.Hour, "24h": 24 * time.Hour}
	name := query.Get("range")
	if ranges[name] == 0 {
		name = "3h"
	}
	query.Del("range")
	for _, other := range []string{"1h", "3h", "24h"} {
		l := link{Text: other}
		if other != name {
			l.Path = "./?" + strings.TrimPrefix(query.Encode()+"&range="+other, "&")
		}
		links = append(links, l)
	}
	return ranges[name], links
}

// overview returns the list of all jobs, with details of the jobs that the query names. A
// single job always has details.
func (p *Page) overview(query url.Values, figure figureFunc) (overview, error) {
	wanted, links := rangesOf(query)
	o := overview{head: p.head("synthetic", ""), Snapshot: p.Snapshot(), Query: query.Encode(), Groups: p.groups()}
	alerts, on := p.alerts()
	o.Stalled = alerts.Stalled
	var lastEnd time.Time
	for _, i := range p.incidentsNow() {
		if i.Ended.IsZero() {
			o.Open = append(o.Open, i)
		} else if i.Ended.After(lastEnd) {
			lastEnd = i.Ended
		}
	}
	switch {
	case !on || o.Stalled != "" || len(o.Open) > 0:
	case lastEnd.IsZero():
		o.Calm = "no incident is open, and none is known"
	default:
		o.Calm = "no incident is open; the last one ended at " + o.When(lastEnd)
	}
	jobs, named := p.all(), query.Has("target") || query.Has("workload") || len(o.Snapshot.Jobs) == 1
	for _, j := range o.Snapshot.Jobs {
		c := p.cardOf(j, o.Open)
		if j.InPart {
			o.InPart++
		}
		collected := jobs[probe.Key{Target: j.Target, Workload: j.Workload}]
		if collected == nil {
			continue
		}
		if len(o.Snapshot.Jobs) > 1 {
			c.Spark = sparkline(collected.minutesIn(span{o.Now.Add(-time.Hour), o.Now}), o.Now)
			o.Fleet = append(o.Fleet, c)
		}
		if named && matches(query, j.Target, j.Workload) && len(o.Cards) < cardsShown {
			c.Ranges = links
			if err := p.complete(&c, collected, span{o.Now.Add(-wanted), o.Now}, figure); err != nil {
				return o, err
			}
			o.Cards = append(o.Cards, c)
		}
	}
	if len(o.Cards) > 0 {
		o.head.Charts = chart.Script()
	}
	slices.SortStableFunc(o.Fleet, func(a, b card) int {
		return cmp.Or(a.State.rank()-b.State.rank(), cmp.Compare(b.Worst.V, a.Worst.V))
	})
	return o, nil
}

// cardOf returns the card of a job. Of the last turn and the open incident, it shows the worse
// state, so that an open ticket does not hide that the target is down.
func (p *Page) cardOf(j Job, open []incident) card {
	c := card{Job: j, State: stateOf(j)}
	for _, s := range j.Signals {
		if s.Ratio.OK && !math.IsInf(s.Ratio.V, 0) && s.Ratio.V > c.Worst.V {
			c.Worst = s.Ratio
		}
	}
	for _, i := range open {
		if i.About.Target == j.Target && i.About.Workload == j.Workload {
			c.Incident = i.ID
			if i.State().rank() <= c.State.rank() {
				c.State = i.State()
			}
		}
	}
	return c
}

func (p *Page) complete(c *card, j *job, s span, figure figureFunc) (err error) {
	c.Rows = rows(c.Recent, c.Expected)
	c.Charts, err = charts(figure, j.minutesIn(s), p.serverMinutes(c.Target, s), c.SLOs)
	return err
}

// matches reports whether the query's target and workload, if given, are these.
func matches(query url.Values, target, workload string) bool {
	same := func(name, v string) bool { return !query.Has(name) || query.Get(name) == v }
	return same("target", target) && same("workload", workload)
}

// stateOf returns the worst state of a job. A silent job is not healthy.
func stateOf(j Job) state {
	switch {
	case j.Last == nil:
		return state{"unknown", "no turn yet"}
	case j.Last.Outcome.OwnFault():
		return state{"unknown", "the prober's own fault: " + string(j.Last.Outcome)}
	case j.Recent.Turns == 0:
		return state{"warn", "no turn for " + j.Last.Age.String()}
	case j.Last.Outcome.Busy():
		return state{"bad", "last turn refused: " + string(j.Last.Outcome)}
	case j.Last.Outcome.Failed():
		return state{"bad", "last turn failed: " + string(j.Last.Outcome)}
	}
	var missed []string
	for _, s := range j.SLOs {
		if s.Judged > 0 && !s.Met() {
			missed = append(missed, s.Name)
		}
	}
	switch len(missed) {
	case 0:
		return state{"good", "ok"}
	case 1:
		return state{"warn", "misses " + missed[0]}
	}
	return state{"warn", fmt.Sprintf("misses %s and %d more", missed[0], len(missed)-1)}
}

func (s SLO) Statement() string {
	turns, unknown := "turns", ""
	if s.Uncached != "" {
		turns += " with " + s.Uncached + " uncached tokens"
	}
	if s.CacheUnknown > 0 {
		unknown = fmt.Sprintf("; %d judged by prompt tokens or an estimate, because their cached tokens are unknown", s.CacheUnknown)
	}
	if s.SLI == slo.Correct {
		return fmt.Sprintf("%s of %s have the code that they ask for%s", s.Objective, turns, unknown)
	}
	if s.SLI == slo.Availability {
		return fmt.Sprintf("%s of %s succeed%s", s.Objective, turns, unknown)
	}
	if s.SLI == slo.Session {
		return fmt.Sprintf("%s of sessions end within %s and without a failed turn", s.Objective, slo.FormatDuration(s.Threshold.V))
	}
	names := map[slo.SLI]string{
		slo.TTFT: "TTFT", slo.AnswerTTFT: "answer TTFT", slo.TPOT: "TPOT",
		slo.ITL: "longest token gap", slo.TurnDuration: "turn duration",
	}
	threshold := chart.Label(s.Threshold.V.Seconds(), "s")
	if s.PerThousand.OK {
		threshold += " + " + chart.Label(s.PerThousand.V.Seconds(), "s") + " per 1k uncached tokens"
	}
	return fmt.Sprintf("%s of %s have %s ≤ %s%s", s.Objective, turns, names[s.SLI], threshold, unknown)
}

func (s SLO) State() state {
	switch {
	case s.Judged == 0:
		return state{"unknown", "no data"}
	case s.Met():
		return state{"good", "met"}
	}
	return state{"bad", "missed"}
}

type group struct{ Name, Text, Failing string }

// groups describes each discovery group: its targets, the objects left out, its error.
func (p *Page) groups() (out []group) {
	if p.options.Discovery == nil {
		return nil
	}
	now := p.options.Now()
	for _, s := range p.options.Discovery() {
		g := group{Name: s.Name, Text: fmt.Sprintf("%d found", s.Found)}
		if s.Leased {
			g.Text = fmt.Sprintf("%d leased", s.Found)
		}
		var left []string
		for _, reason := range slices.Sorted(maps.Keys(s.LeftOut)) {
			left = append(left, fmt.Sprintf("%d for %s", s.LeftOut[reason], reason))
		}
		if left != nil {
			g.Text += ", left out " + strings.Join(left, ", ")
		}
		switch {
		case s.Failing != "":
			g.Failing = fmt.Sprintf("fails for %v: %s", Duration(probe.Some(now.Sub(s.Since))), s.Failing)
		case s.At.IsZero():
			g.Failing = "has not answered yet"
		}
		out = append(out, g)
	}
	return out
}
