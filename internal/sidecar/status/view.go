package status

import (
	"fmt"
	"net/url"

	"synthetic/internal/draw"
	"synthetic/internal/slo"
)

// cardsShown bounds the jobs that are shown in full on one page.
const cardsShown = 20

// overview is what the template of the first page gets.
type overview struct {
	head
	Snapshot Snapshot
	Cards    []card
	// Table says that there is more than one job: a list of all comes first.
	Table []card
	// Firing names the alerts that fire, if this process evaluates rules.
	Firing []string
	// InPart is how many jobs are judged in part at most.
	InPart int
	// Stalled is why it evaluates none now, "" if it does.
	Stalled string
}

// card is one job as it is shown.
type card struct {
	Job
	Plot  plot
	State state
	Rows  []row
	// Canary is nil where nothing is compared.
	Canary *canaryView
}

// row is one line of the table of figures.
type row struct {
	Name string
	Quantiles
	Note bool // it explains the row before it
}

// rows lists the quantiles of a job's recent turns. The TTFT with failures has
// a row only where it differs, what is expected where there is a benchmark.
func rows(r Recent, e *Expected) []row {
	if e == nil {
		e = &Expected{}
	}
	var out []row
	add := func(name string, q, all, expected Quantiles) {
		out = append(out, row{Name: name, Quantiles: q})
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

// state is how a job stands, in a word for the reader and a class for colour.
type state struct{ Class, Text string }

// newOverview shows the jobs that the query names, all of them by default.
func newOverview(s Snapshot, query url.Values) overview {
	o := overview{Snapshot: s}
	for _, j := range s.Jobs {
		c := card{Job: j, State: stateOf(j), Rows: rows(j.Recent, j.Expected)}
		if j.InPart {
			o.InPart++
		}
		if len(s.Jobs) > 1 {
			o.Table = append(o.Table, c)
		}
		if matches(query, j.Target, j.Workload) {
			c.Plot = newPlot(s.At, j)
			o.Cards = append(o.Cards, c)
		}
	}
	if len(o.Cards) > cardsShown {
		o.Cards = nil
	}
	return o
}

// matches reports whether the query's target and workload, where given, are
// these.
func matches(query url.Values, target, workload string) bool {
	same := func(name, v string) bool { return !query.Has(name) || query.Get(name) == v }
	return same("target", target) && same("workload", workload)
}

// stateOf sums a job up, the worst first. A job that fell silent is not well.
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

// Statement says what the objective wants, in words.
func (s SLO) Statement() string {
	if s.SLI == slo.Availability {
		return fmt.Sprintf("%s of turns succeed", s.Objective)
	}
	names := map[slo.SLI]string{
		slo.TTFT: "TTFT", slo.AnswerTTFT: "answer TTFT", slo.TPOT: "TPOT",
		slo.ITL: "longest token gap", slo.TurnDuration: "turn duration",
	}
	return fmt.Sprintf("%s of turns have %s ≤ %s", s.Objective, names[s.SLI], draw.Label(s.Threshold.V.Seconds(), "s"))
}

// State says whether the objective is met.
func (s SLO) State() state {
	switch {
	case s.Judged == 0:
		return state{"unknown", "no data"}
	case s.Met():
		return state{"good", "met"}
	}
	return state{"bad", "missed"}
}
