// Package status serves the status page: the recent turns of every target and workload, in
// figures, in charts and one by one.
//
// A Page is a sink that keeps a bounded number of results, less than 200 kB for each job.
// /metrics is for long periods.
package status

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/discovery"
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
	// Habits returns the rises of a job that are expected again; nil means none.
	Habits func(job probe.Key) []baseline.Habit
	// Discovery returns the state of each discovery group; nil without discovery.
	Discovery func() []discovery.Standing
	// Lag returns how late this process was in the last minute; nil means 0.
	Lag func() time.Duration
	Now func() time.Time
}

// Page collects events and serves the status page. It is safe for concurrent use. Use New.
type Page struct {
	http.Handler
	options Options
	started time.Time

	incidents incidents

	mu      sync.Mutex
	jobs    map[probe.Key]*job
	keeps   atomic.Int64           // successesOf jobs
	servers map[string]*serverLoad // by target, for jobs whose server's metrics are read
	infos   infos
}

func New(o Options) *Page {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lag == nil {
		o.Lag = func() time.Duration { return 0 }
	}
	if o.Baseline == nil {
		o.Baseline = func(probe.Key) (none baseline.Reading, ok bool) { return none, false }
	}
	if o.Habits == nil {
		o.Habits = func(probe.Key) []baseline.Habit { return nil }
	}
	p := &Page{options: o, started: o.Now(), jobs: map[probe.Key]*job{}, servers: map[string]*serverLoad{}, incidents: incidents{changed: make(chan struct{}, 1)}}
	p.Handler = p.routes()
	return p
}

// Add implements sink.Sink. New objectives also apply to turns in the past.
func (p *Page) Add(info sink.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[info.Key()]
	if j == nil {
		j = &job{keeps: &p.keeps, tally: sink.NewTally(), compare: func() (baseline.Reading, bool) { return p.options.Baseline(info.Key()) }}
		j.spent.since = p.options.Now()
		p.jobs[info.Key()] = j
		p.keeps.Store(int64(successesOf(len(p.jobs))))
	}
	if info.ServerMetrics && p.servers[info.Target.Name] == nil {
		p.servers[info.Target.Name] = &serverLoad{}
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
	p.keeps.Store(int64(successesOf(len(p.jobs))))
	for other := range p.jobs {
		if other.Target == job.Target {
			return
		}
	}
	delete(p.servers, job.Target)
}

// Observe implements sink.Sink.
func (p *Page) Observe(e probe.Event) {
	j := p.job(e.Key())
	if j == nil {
		return
	}
	j.mu.Lock()
	previousMinute, turn, objectives := j.current.at, scored{}, j.info.Objectives
	counted := j.observe(e, p.options.Now())
	if r, ended := e.(probe.Result); counted && ended && !r.Outcome.Own() {
		turn = scored{*j.last, j.score(r)}
	}
	minuteFinished := j.current.at != previousMinute
	j.mu.Unlock()
	if minuteFinished {
		p.incidents.recordEffect(e.Key(), p.effect(e.Key()))
	}
	if turn.TraceID != "" {
		p.incidents.observe(turn, missed(objectives, e.(probe.Result)))
	}
	if c, ended := e.(probe.Conversation); counted && ended {
		p.incidents.observeSession(c, missedBySession(objectives, c))
	}
}

// onClockOf returns what the clock of now would have shown at t. The two differ if the wall clock was set since,
// and t has a monotonic reading, as the result has. It is rounded to milliseconds, because the two readings drift apart
// by microseconds and a full minute would be shown as the minute before.
func onClockOf(now, t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	then := now.Add(t.Sub(now))
	return then.Add(then.Round(time.Millisecond).Sub(then)) // Round alone drops the monotonic reading
}

// Alert records the start or end of an alert.
func (p *Page) Alert(c AlertChange) {
	key := subjectOf(c.Labels).Key
	c.At = onClockOf(p.options.Now(), c.At)
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
	now := p.options.Now()
	j.mu.Lock()
	useLatestTurns(&reading.Views, j.samples, now)
	j.mu.Unlock()
	e := effectOf(reading.Views, reading.Excess)
	e.Since = onClockOf(now, e.Since)
	return e
}
