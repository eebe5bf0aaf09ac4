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
	jobs       map[jobKey]*job
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
	p := &Page{options: o, started: o.Now(), jobs: map[jobKey]*job{}}
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
func (p *Page) Forget(target, workload string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, jobKey{target, workload})
}

// TurnStarted counts a turn as in flight.
func (p *Page) TurnStarted(s probe.Start) {
	p.update(jobKey{s.Target, s.Workload}, true, func(j *job) { j.turnsInFlight++ })
}

// TurnEnded takes a finished turn in.
func (p *Page) TurnEnded(r probe.Result) {
	p.update(jobKey{r.Target, r.Workload}, false, func(j *job) { j.turnEnded(r) })
}

// ConversationStarted counts a conversation as in flight.
func (p *Page) ConversationStarted(s probe.ConversationStart) {
	p.update(jobKey{s.Target, s.Workload}, true, func(j *job) { j.conversationsInFlight++ })
}

// ConversationEnded counts a finished conversation.
func (p *Page) ConversationEnded(c probe.Conversation) {
	p.update(jobKey{c.Target, c.Workload}, false, func(j *job) {
		j.conversationsInFlight = max(j.conversationsInFlight-1, 0)
		j.conversations++
	})
}

// ConversationSkipped counts a conversation that was due and not started.
func (p *Page) ConversationSkipped(s probe.Skip) {
	p.update(jobKey{s.Target, s.Workload}, true, func(j *job) { j.skipped[s.Reason]++ })
}

// update changes a job under its lock. Only a beginning makes a job known: the
// end of a turn that started before its job was forgotten does not bring the
// job back.
func (p *Page) update(key jobKey, begins bool, change func(*job)) {
	p.mu.Lock()
	j := p.jobs[key]
	if j == nil && begins {
		j = newJob()
		p.jobs[key] = j
	}
	p.mu.Unlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	change(j)
}
