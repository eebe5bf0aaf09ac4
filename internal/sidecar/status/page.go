// Package status is the page that people look at: what the last turns of every
// target and workload were like, in figures, as a picture, and one by one.
//
// A Page takes results as a sink and keeps a bounded number of them, under
// 200 kB for each job; /metrics is for what lasts.
package status

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
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

	mu         sync.Mutex
	jobs       map[probe.Key]*job
	objectives []slo.Objective
	expected   []Expected
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

// Apply sets the objectives that turns are judged by, those of the past
// included.
func (p *Page) Apply(objectives []slo.Objective) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.objectives = slices.Clone(objectives)
}

// Forget removes a job. Call it when its last conversation has ended.
func (p *Page) Forget(job probe.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, job)
}

// Observe takes an event in. Only a beginning makes a job known: the end of a
// turn that started before its job was forgotten does not bring the job back.
func (p *Page) Observe(e probe.Event) {
	p.mu.Lock()
	j := p.jobs[e.Key()]
	if j == nil && begins(e) {
		j = newJob()
		p.jobs[e.Key()] = j
	}
	p.mu.Unlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.observe(e)
}

// begins reports whether an event is the beginning of something.
func begins(e probe.Event) bool {
	switch e.(type) {
	case probe.Result, probe.Conversation, probe.ModelFound:
		return false
	}
	return true
}
