package status

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

const (
	// sectionsShown bounds the jobs with a section on one page. The table of all jobs links to the others.
	sectionsShown = 20
	// silent is the time without a turn after which a job is no longer normal.
	silent = 15 * time.Minute
)

// view is the input of the template.
type view struct {
	Style template.CSS
	// Charts is the script of the charts, Live the one that refreshes the page.
	Charts, Live template.JS
	Title, Icon  string
	Now          time.Time
	Snapshot     Snapshot
	// Fleet are the jobs, the worst first, if there are several.
	Fleet []section
	// Sections are the jobs with details.
	Sections []section
	// Open are the firing alerts that no section shows.
	Open     []openAlert
	Troubles []string
	// InPart is the number of jobs that are only judged in part.
	InPart int
	Groups []group
	// Chosen is true if the query names jobs.
	Chosen bool
}

type section struct {
	Job
	// largest ratio to a baseline
	Worst  multiple
	Rows   []row
	Charts []template.HTML
	// Server has the server's own figures in words, "" if its metrics are not read.
	Server    string
	LastTurns []turnRow
}

// row is a line of the table of figures.
type row struct {
	Name string
	quantiles
	Note bool // a note on the row above
}

// rows returns the quantiles of a job's recent turns. The TTFT with failures has a row only if it differs.
func rows(r recentFigures) (out []row) {
	add := func(name string, q, all quantiles) {
		out = append(out, row{Name: name, quantiles: q})
		if all.Count != q.Count {
			out = append(out, row{"… with failures as ∞", all, true})
		}
	}
	add("TTFT, first turn", r.First.TTFT, r.First.TTFTAll)
	add("TTFT, follow-up", r.Followup.TTFT, r.Followup.TTFTAll)
	add("TPOT, first turn", r.First.TPOT, r.First.TPOT)
	add("TPOT, follow-up", r.Followup.TPOT, r.Followup.TPOT)
	return out
}

// state is a state in words, with the class of its colour.
type state struct{ Class, Text string }

// MarshalText implements encoding.TextMarshaler.
func (s state) MarshalText() ([]byte, error) { return []byte(s.Text), nil }

// rank is smaller for worse states.
func (s state) rank() int { return slices.Index([]string{"bad", "warn", "unknown", "good"}, s.Class) }

// view returns the table of all jobs with the sections of the worst, or the sections of the jobs that the query names.
func (p *Page) view(query url.Values) (view, error) {
	v := view{
		Style: chart.Style() + template.CSS(ownStyle), Charts: chart.Script(), Live: template.JS(liveScript), Title: "synthetic", Icon: "good",
		Now: p.options.Now().UTC(), Snapshot: p.Snapshot(), Groups: p.groups(), Chosen: query.Has("target") || query.Has("workload"),
	}
	if v.Snapshot.Alerts != nil {
		v.Open, v.Troubles = v.Snapshot.Alerts.open(), v.Snapshot.Alerts.troubles()
	}
	v.Open = slices.DeleteFunc(v.Open, func(a openAlert) bool { return a.Target != "" && !matches(query, a.Target, a.Workload) })
	for _, j := range v.Snapshot.Jobs {
		if j.InPart {
			v.InPart++
		}
		if matches(query, j.Target, j.Workload) {
			v.Fleet = append(v.Fleet, newSection(j))
		}
	}
	slices.SortStableFunc(v.Fleet, func(a, b section) int {
		return cmp.Or(a.State.rank()-b.State.rank(), cmp.Compare(b.Worst.V, a.Worst.V))
	})
	switch {
	case len(v.Open) > 0:
		v.Icon, v.Title = v.Open[0].State.Class, v.Open[0].State.Text+": "+v.Open[0].About()+" – synthetic"
	case len(v.Fleet) > 0:
		v.Icon = v.Fleet[0].State.Class
	}
	jobs := p.all()
	for i := range v.Fleet {
		s, j := &v.Fleet[i], jobs[v.Fleet[i].Key()]
		if j == nil {
			continue
		}
		if len(v.Sections) == sectionsShown {
			break
		}
		if err := p.complete(s, j, v.Now); err != nil {
			return v, err
		}
		v.Sections = append(v.Sections, *s)
		v.Open = slices.DeleteFunc(v.Open, func(a openAlert) bool { return a.Target == s.Target && a.Workload == s.Workload })
	}
	if len(v.Fleet) == 1 {
		v.Fleet = nil
	}
	return v, nil
}

// newSection returns the section of a job without its details.
func newSection(j Job) section {
	s := section{Job: j}
	for _, signal := range j.Signals {
		if r := signal.Ratio; r.OK && !math.IsInf(r.V, 0) && r.V > s.Worst.V {
			s.Worst = r
		}
	}
	slices.SortStableFunc(s.SLOs, func(a, b SLO) int { return a.State().rank() - b.State().rank() })
	return s
}

// badge returns the worse one of a job's own state and its open alerts, so that an open ticket does not hide that the
// target is down.
func (p *Page) badge(j Job, now time.Time) state {
	s := stateOf(j)
	if len(j.Open) > 0 && j.Open[0].State.rank() <= s.rank() {
		s = j.Open[0].What()
	}
	if ended := p.pageEnded(j.Key()); s == normal && now.Sub(ended) < 24*time.Hour {
		s.Text += " since " + ended.UTC().Format("15:04")
	}
	return s
}

func (p *Page) complete(s *section, j *job, now time.Time) (err error) {
	s.Rows = rows(s.Recent)
	s.LastTurns = j.turns()
	server, words := p.server(s.Target)
	s.Server = words
	s.Charts, err = charts(j.minutesUntil(now), server, s.SLOs)
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
	case j.Last.Age.V > silent:
		return state{"warn", "no turn for " + j.Last.Age.String()}
	case j.Last.Outcome.Busy():
		return state{"bad", "last turn refused: " + string(j.Last.Outcome)}
	case j.Last.Outcome.Failed():
		return state{"bad", "last turn failed: " + string(j.Last.Outcome)}
	}
	if missed := slices.IndexFunc(j.SLOs, func(s SLO) bool { return s.Judged > 0 && !s.Met() }); missed >= 0 {
		return state{"warn", "misses " + j.SLOs[missed].Name}
	}
	if slices.ContainsFunc(j.Signals, func(s signalState) bool { return s.Learning }) {
		return state{"unknown", "learning"}
	}
	return normal
}

// normal is the only state in green.
var normal = state{"good", "normal"}

// Statement says how many turns miss the objective, in the words of its alert.
func (s SLO) Statement() string {
	unknown := ""
	if s.CacheUnknown > 0 {
		unknown = fmt.Sprintf("; %d judged by prompt tokens or an estimate, because their cached tokens are unknown", s.CacheUnknown)
	}
	return fmt.Sprintf("%s of %s; at most %.4g %% may%s", shareOf(s.Judged-s.Good, s.Judged), s.Miss, 100*(1-s.Objective.V), unknown)
}

func (s SLO) State() state {
	switch {
	case s.Judged == 0:
		return state{"unknown", "no data"}
	case s.Met():
		return state{"unknown", "met"}
	}
	return state{"bad", "missed"}
}

// turnRow is a turn on the page.
type turnRow struct{ probe.Result }

func (t turnRow) State() state {
	switch {
	case t.Recall.Result == recall.Foreign:
		return state{"bad", "foreign answer"}
	case t.Outcome == probe.Success:
		return state{"unknown", string(t.Outcome)}
	case t.Outcome.Failed():
		return state{"bad", string(t.Outcome)}
	}
	return state{"unknown", string(t.Outcome)}
}

// Note says why the turn failed, or what is wrong with its answer.
func (t turnRow) Note() string {
	notes := []string{t.Err, t.UsageImpossible}
	switch t.Recall.Result {
	case recall.Foreign:
		notes = append(notes, "the answer has a reference code of another conversation")
	case recall.Wrong:
		notes = append(notes, "the answer lacks the reference code that was asked for")
	}
	return strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
}

// Durations returns the TTFT, the TPOT and the length of the turn.
func (t turnRow) Durations() []Duration {
	return []Duration{Duration(t.TTFT), Duration(t.TPOT), Duration(probe.Some(t.Duration()))}
}

// Tokens returns the prompt, cached and output tokens.
func (t turnRow) Tokens() string {
	counts := []string{t.PromptTokens.Text(strconv.Itoa), t.CachedTokens.Text(strconv.Itoa), t.OutputTokens.Text(strconv.Itoa)}
	return strings.Join(counts, " / ")
}

type group struct{ Name, Text, Failing string }

// groups describes each discovery group: its targets, the objects left out, its error.
func (p *Page) groups() (out []group) {
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
