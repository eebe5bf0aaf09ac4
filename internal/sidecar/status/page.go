// Package status serves the status page: the state, the objectives, the latencies of the last hours, the open alerts
// and the last turns of every target and workload.
//
// A Page is a sink that keeps a bounded number of results, less than 300 kB for each job. /metrics is for long
// periods.
package status

import (
	"maps"
	"sync"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/watch"
)

// window is the period of the figures, as in alerts. A busy job's figures cover less: only samplesKept turns are kept.
const window = 5 * time.Minute

// Options configure a Page.
type Options struct {
	// Alerts returns the rules of this process; false means that it evaluates none.
	Alerts func() (Alerts, bool)
	// Baseline returns how the turns of a job compare with their baselines; false means unknown.
	Baseline func(job probe.Key) (watch.Reading, bool)
	// Discovery returns the state of each discovery group.
	Discovery func() []discovery.Standing
	// Lag returns how late this process was in the last minute.
	Lag func() time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Page collects events and serves the status page. It is safe for concurrent use. Use New.
type Page struct {
	options Options
	started time.Time
	// rendering holds a value while a page is rendered: one at a time, for any number of clients.
	rendering chan struct{}

	mu   sync.Mutex
	jobs map[probe.Key]*job
	// servers holds the figures of each target whose own metrics are read.
	servers map[string]*serverFigures
	ended   map[probe.Key]time.Time // of the last page about a job
}

func New(o Options) *Page {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Page{options: o, started: o.Now(), rendering: make(chan struct{}, 1), jobs: map[probe.Key]*job{}, servers: map[string]*serverFigures{}, ended: map[probe.Key]time.Time{}}
}

// Add implements fleet.Sink. New objectives also apply to turns in the past.
func (p *Page) Add(info fleet.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[info.Key()]
	if j == nil {
		j = &job{tally: fleet.NewTally(), compare: func() (watch.Reading, bool) { return p.options.Baseline(info.Key()) }}
		p.jobs[info.Key()] = j
	}
	if info.ServerMetrics && p.servers[info.Target.Name] == nil {
		p.servers[info.Target.Name] = &serverFigures{}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.info = info
}

// Remove implements fleet.Sink.
func (p *Page) Remove(job probe.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, job)
	delete(p.ended, job)
	for other := range p.jobs {
		if other.Target == job.Target {
			return
		}
	}
	delete(p.servers, job.Target)
}

// Observe implements fleet.Sink.
func (p *Page) Observe(e probe.Event) {
	p.mu.Lock()
	j := p.jobs[e.Key()]
	p.mu.Unlock()
	if j != nil {
		j.observe(e)
	}
}

// PageEnded records that a page about a job is over.
func (p *Page) PageEnded(job probe.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.jobs[job] != nil {
		p.ended[job] = p.options.Now()
	}
}

// ServerRead records a reading of a target's own metrics.
func (p *Page) ServerRead(target string, r serverside.Reading) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.servers[target]; f != nil {
		f.add(p.options.Now(), r)
	}
}

// CanPage names the pages that a job can have now, and the time of the others; "" if it can have all.
func (p *Page) CanPage(job probe.Key) string {
	reading, _ := p.options.Baseline(job)
	return canPage(signals(&reading, p.options.Now(), nil))
}

// pageEnded returns when the last page about a job ended, zero without one.
func (p *Page) pageEnded(job probe.Key) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended[job]
}

func (p *Page) all() map[probe.Key]*job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.jobs)
}
