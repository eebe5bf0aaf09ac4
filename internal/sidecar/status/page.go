// Package status is the page that people look at: what the last turns of every
// target and workload were like, in figures, as a picture, and one by one.
//
// A Page takes results as a sink and keeps a bounded number of them, under
// 200 kB for each job; /metrics is for what lasts.
package status

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// Options say what a Page shows; the zero value is fine.
type Options struct {
	// Window is how far back the figures look; default 15 minutes. The last
	// 512 turns of a job are kept, so a busy job's figures look back less.
	Window time.Duration
	// Links head the page; nil means alerts, metrics, healthy and ready.
	Links []Link
	// Alerts tells of the rules that this process evaluates; false, or nil,
	// says that it evaluates none.
	Alerts func() (Alerts, bool)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Link is one link at the head of the page.
type Link struct {
	// Path is relative to the page, so that a proxy may serve it under a prefix.
	Path, Text string
}

// Page collects what jobs do and shows it. It is safe for concurrent use. Use
// New.
type Page struct {
	options Options
	started time.Time
	handler http.Handler

	mu   sync.Mutex
	jobs map[probe.Key]*job
}

// New returns a page without any job.
func New(o Options) *Page {
	o.Window = cmp.Or(o.Window, 15*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Links == nil {
		o.Links = []Link{{"alerts", "alerts"}, {"metrics", "metrics"}, {"-/healthy", "healthy"}, {"-/ready", "ready"}}
	}
	p := &Page{options: o, started: o.Now(), jobs: map[probe.Key]*job{}}
	p.handler = p.routes()
	return p
}

// Add makes a job known, or judges its turns by other objectives, those of the
// past included.
func (p *Page) Add(info sink.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[info.Key()]
	if j == nil {
		j = newJob()
		p.jobs[info.Key()] = j
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.objectives, j.expected = info.Objectives, expectedOf(info.Benchmark)
}

// Remove forgets a job.
func (p *Page) Remove(job probe.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, job)
}

// Observe takes an event in.
func (p *Page) Observe(e probe.Event) {
	p.mu.Lock()
	j := p.jobs[e.Key()]
	p.mu.Unlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.observe(e)
}
