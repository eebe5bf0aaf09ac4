// Package status serves the status page: the recent turns of every target and workload, in
// figures, in charts and one by one.
//
// A Page is a sink that keeps a bounded number of results, less than 250 kB for each job.
// /metrics is for long periods.
package status

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/siblings"
	"synthetic/internal/sidecar/sink"
)

// window is the period of the figures. A busy job's figures cover less, because only its last
// 512 turns are kept.
const window = 15 * time.Minute

// Options configure a Page. Each field may be left out.
type Options struct {
	// Alerts returns the rules of this process; nil, or false, means that it evaluates none.
	Alerts func() (Alerts, bool)
	// Baseline returns how the turns of a job compare with their baselines; nil, or false,
	// means unknown.
	Baseline func(job probe.Key) (baseline.Reading, bool)
	// Canary returns how a target's answers compare with the recorded ones; nil, or false,
	// means unknown.
	Canary func(target string) (answers.Reading, bool)
	// Discovery returns the state of each discovery group; nil without discovery.
	Discovery func() []discovery.Standing
	// Siblings returns how replicas compare with each other; nil means no comparison.
	Siblings func() []siblings.View
	// Lag returns how late this process was in the last minute; nil means 0.
	Lag func() time.Duration
	Now func() time.Time
}

// Page collects events and serves the status page. It is safe for concurrent use. Use New.
type Page struct {
	http.Handler
	options Options
	started time.Time

	marks     marks
	incidents incidents

	mu   sync.Mutex
	jobs map[probe.Key]*job
}

func New(o Options) *Page {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lag == nil {
		o.Lag = func() time.Duration { return 0 }
	}
	if o.Siblings == nil {
		o.Siblings = func() []siblings.View { return nil }
	}
	if o.Canary == nil {
		o.Canary = func(string) (none answers.Reading, ok bool) { return none, false }
	}
	if o.Baseline == nil {
		o.Baseline = func(probe.Key) (none baseline.Reading, ok bool) { return none, false }
	}
	p := &Page{options: o, started: o.Now(), jobs: map[probe.Key]*job{}}
	p.Handler = p.routes()
	return p
}

// Add implements sink.Sink. New objectives also apply to turns in the past.
func (p *Page) Add(info sink.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[info.Key()]
	if j == nil {
		j = &job{tally: sink.NewTally(), compare: func() (baseline.Reading, bool) { return p.options.Baseline(info.Key()) }}
		j.spent.since = p.options.Now()
		p.jobs[info.Key()] = j
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.info = info
}

func (p *Page) job(key probe.Key) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.jobs[key]
}

func (p *Page) all() map[probe.Key]*job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.jobs)
}

// Remove implements sink.Sink.
func (p *Page) Remove(job probe.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, job)
}

// Observe implements sink.Sink.
func (p *Page) Observe(e probe.Event) {
	j := p.job(e.Key())
	if j == nil {
		return
	}
	j.mu.Lock()
	previousModel, previousMinute, turn := j.model, j.current.at, scored{}
	counted := j.observe(e, p.options.Now())
	if r, ended := e.(probe.Result); counted && ended && !r.Outcome.Own() {
		turn = scored{*j.last, j.score(r)}
	}
	model, minuteFinished := j.model, j.current.at != previousMinute
	j.mu.Unlock()
	if minuteFinished {
		p.incidents.recordEffect(e.Key(), p.effect(e.Key()))
	}
	if previousModel != "" && model != previousModel {
		p.Mark(Mark{Kind: markModel, Target: e.Key().Target, Text: "asked for " + model + ", before for " + previousModel})
	}
	if turn.TraceID != "" {
		p.incidents.observe(turn)
	}
}

// Alert records the start or end of an alert.
func (p *Page) Alert(c AlertChange) {
	key := subjectOf(c.Labels).Key
	p.incidents.record(c, func() past {
		j := p.job(key)
		if j == nil {
			return past{}
		}
		out := j.past(p.options.Now())
		out.effect = p.effect(key)
		return out
	})
}

func (p *Page) effect(job probe.Key) effect {
	reading, ok := p.options.Baseline(job)
	j := p.job(job)
	if !ok || j == nil {
		return effect{}
	}
	j.mu.Lock()
	useLatestTurns(&reading.Views, j.samples, p.options.Now())
	j.mu.Unlock()
	return effectOf(reading.Views, reading.Excess)
}

// marksKept bounds the marks, textKept the bytes of a mark's text.
const marksKept, textKept = 200, 200

type markKind string

// Kinds of marks: the process started, it loaded a new configuration, a release was marked over
// HTTP, a job requests another model, or an incident began.
const (
	MarkStart    markKind = "start"
	MarkReload   markKind = "reload"
	MarkDeploy   markKind = "deploy"
	markModel    markKind = "model"
	markIncident markKind = "incident"
)

// Mark is an event that may explain later measurements.
type Mark struct {
	At   time.Time
	Kind markKind
	// the affected target, "" for all
	Target string
	Text   string
}

func (m Mark) Short() string {
	if m.Kind == MarkDeploy && len(m.Text) <= 24 {
		return cmp.Or(m.Text, string(m.Kind))
	}
	return string(m.Kind)
}

type marks struct {
	mu  sync.Mutex
	all []Mark
}

// marked returns the marks of a target in a time range, and the starts of its incidents.
func (p *Page) marked(target string, s span) []Mark {
	return append(p.marks.about(target, s), p.incidents.marks(target, s)...)
}

// about returns the marks of a target in a time range, oldest first.
func (m *marks) about(target string, s span) []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.all), func(mark Mark) bool {
		return !s.contains(mark.At) || mark.Target != "" && mark.Target != target
	})
}

// Mark records an event.
func (p *Page) Mark(m Mark) {
	if m.At.IsZero() {
		m.At = p.options.Now()
	}
	m.Text = clip(m.Text, textKept)
	p.marks.mu.Lock()
	defer p.marks.mu.Unlock()
	p.marks.all = appendBounded(p.marks.all, m, marksKept)
}
