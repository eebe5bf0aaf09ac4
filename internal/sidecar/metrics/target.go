package metrics

import (
	"maps"
	"net/url"

	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/target"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/sink"
)

// targetSeries is what is known of a target that has jobs.
type targetSeries struct {
	model, connection, url string
	// labels are those of its own.
	labels map[string]string
	// server is what its own metrics say; nil unless they are read.
	server *server
	canary canarySeries
}

// canarySeries are what is known of a target's answers; absent until a round.
type canarySeries struct {
	score, distance          float64
	rounds, failures, tokens float64
}

// CanaryRound takes a round of the canary's prompts.
func (r *Recorder) CanaryRound(target string, reading answers.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.targets[target]
	if t == nil {
		return
	}
	c := &t.canary
	c.tokens += float64(reading.Tokens)
	if reading.Err != nil {
		c.failures++
		return
	}
	c.rounds++
	c.score, c.distance = reading.Score, reading.Distance
}

// CanaryOver forgets a reference: nothing is known of another one yet.
func (r *Recorder) CanaryOver(target string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.targets[target]; t != nil {
		t.canary = canarySeries{}
	}
}

func (c *canarySeries) gather(e *exposition, l labels) {
	if c.rounds+c.failures > 0 {
		e.addAll(l, value{CanaryRounds, c.rounds}, value{CanaryFailures, c.failures}, value{CanaryTokens, c.tokens})
	}
	if c.rounds > 0 {
		e.addAll(l, value{CanaryScore, c.score}, value{CanaryDistance, c.distance})
	}
}

// server is what is known of a target from its own metrics. The counters are
// ours: they grow by what readings add and never fall, whatever the server
// does.
type server struct {
	last              serverside.Reading
	drafted, accepted float64
	// read says that it was, at least once; counted that it ever counted.
	read, counted bool
}

// configure takes over what a job says of its target. A model that is left to be
// discovered stays what it was said to be last.
func (t *targetSeries) configure(info sink.Job) {
	if info.Target.Model != "" {
		t.model = info.Target.Model
	}
	t.connection = string(info.Target.Connection)
	t.url = address(info.Target.BaseURL)
	t.labels = own(info.Target)
	if !info.ServerMetrics {
		t.server = nil
	} else if t.server == nil {
		t.server = &server{}
	}
}

// own are the labels that a target's series have because its configuration says so.
func own(t target.Target) map[string]string {
	if t.Service == "" {
		return t.Labels
	}
	all := maps.Clone(t.Labels)
	if all == nil {
		all = map[string]string{}
	}
	all[LabelService] = t.Service
	return all
}

// address is a URL without the parts that may hold a secret.
func address(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// setModel says which model a target turned out to serve.
func (r *Recorder) setModel(target, model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.targets[target]; t != nil {
		t.model = model
	}
}

// ServerRead takes a reading of a target's own metrics. A target whose jobs do
// not ask for them is left alone.
func (r *Recorder) ServerRead(target string, reading serverside.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.targets[target]
	if t == nil || t.server == nil {
		return
	}
	s := t.server
	s.read, s.last = true, reading
	if reading.Counted {
		s.counted = true
		s.drafted += max(0, reading.Drafted)
		s.accepted += max(0, reading.Accepted)
	}
}

// gather shows the target. What is not known of its server has no series.
func (t *targetSeries) gather(e *exposition, l labels) {
	e.add(TargetInfo, l.with("model", t.model).with("connection", t.connection).with("url", t.url), 1)
	t.canary.gather(e, l)
	s := t.server
	if s == nil || !s.read {
		return
	}
	e.add(ServerMetricsUp, l, truth(s.last.Complete))
	if s.counted {
		e.add(ServerDrafted, l, s.drafted)
		e.add(ServerAccepted, l, s.accepted)
	}
	if s.last.Gauged {
		e.add(ServerAcceptance, l, s.last.Acceptance)
	}
}
