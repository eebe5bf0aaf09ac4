// Package status is the page that people look at: what the last turns of every
// target and workload were like, in figures, as a picture, and one by one.
//
// A Page takes results as a sink and keeps a bounded number of them, under
// 250 kB for each job; /metrics is for what lasts.
package status

import (
	"maps"
	"net/http"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/siblings"
	"synthetic/internal/sidecar/sink"
)

// window is how far back the figures look. The last 512 turns of a job are kept,
// so a busy job's figures look back less.
const window = 15 * time.Minute

// Options say what a Page shows; the zero value is fine.
type Options struct {
	// Alerts tells of the rules that this process evaluates; false, or nil,
	// says that it evaluates none.
	Alerts func() (Alerts, bool)
	// Baseline returns how the turns of a job compare with their baselines; nil, or false,
	// means unknown.
	Baseline func(job probe.Key) (baseline.Reading, bool)
	// Canary is how a target's answers compare with the recorded ones; false, or
	// nil, says that nobody knows.
	Canary func(target string) (answers.Reading, bool)
	// Discovery says how the groups of discovered targets stand; nil means there are
	// none.
	Discovery func() []discovery.Standing
	// Siblings says how replicas compare with each other; nil means there are none.
	Siblings func() []siblings.View
	// Lag is how late this process was in the last minute; nil means never.
	Lag func() time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Page collects what jobs do and shows it. It is safe for concurrent use. Use
// New.
type Page struct {
	http.Handler
	options Options
	started time.Time

	marks     marks
	incidents incidents

	mu   sync.Mutex
	jobs map[probe.Key]*job
}

// New returns a page without any job.
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

// Add makes a job known, or judges its turns by other objectives, those of the
// past included.
func (p *Page) Add(info sink.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[info.Key()]
	if j == nil {
		j = newJob(info.Key(), func() (baseline.Reading, bool) { return p.options.Baseline(info.Key()) })
		j.spent.since = p.options.Now()
		p.jobs[info.Key()] = j
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.info, j.counted.Expected = info, expectedOf(info.Benchmark)
}

func (p *Page) all() map[probe.Key]*job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.jobs)
}

// Remove forgets a job.
func (p *Page) Remove(job probe.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, job)
}

// Observe implements sink.Sink.
func (p *Page) Observe(e probe.Event) {
	p.mu.Lock()
	j := p.jobs[e.Key()]
	p.mu.Unlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	model, sealing, turn := j.counted.Model, j.currentMinute, scored{}
	j.observe(e, p.options.Now())
	if r, ended := e.(probe.Result); ended && !r.Outcome.Own() {
		turn = scored{*j.last, j.score(r)}
	}
	now, sealed := j.counted.Model, j.currentMinute != sealing
	j.mu.Unlock()
	if sealed {
		p.incidents.saw(e.Key(), p.effect(e.Key()))
	}
	if model != "" && now != model {
		p.Mark(Mark{Kind: MarkModel, Target: e.Key().Target, Text: "asked for " + now + ", before for " + model})
	}
	if turn.TraceID != "" {
		p.incidents.observe(turn)
	}
}

// Alert tells of an alert of this process that began to fire or is over.
func (p *Page) Alert(c AlertChange) {
	key := subjectOf(c.Labels).Key
	p.incidents.take(c, func() past {
		p.mu.Lock()
		j := p.jobs[key]
		p.mu.Unlock()
		if j == nil {
			return past{}
		}
		out := j.past(p.options.Now())
		out.effect = p.effect(key)
		return out
	})
}

// effect is the largest one on a job now.
func (p *Page) effect(job probe.Key) effect {
	reading, ok := p.options.Baseline(job)
	p.mu.Lock()
	j := p.jobs[job]
	p.mu.Unlock()
	if !ok || j == nil {
		return effect{}
	}
	j.mu.Lock()
	lately(&reading.Views, j.samples, p.options.Now())
	j.mu.Unlock()
	return effectOf(reading.Views, reading.Excess)
}
