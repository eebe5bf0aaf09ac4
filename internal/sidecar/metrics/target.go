package metrics

import (
	"maps"
	"net/url"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/serverside"
)

// targetSeries holds the series of a target that has jobs.
type targetSeries struct {
	model, connection, url string
	// labels from the target's configuration
	labels map[string]string
	// server holds the target's own metrics; nil unless they are read.
	server *server
	// requests counts the requests that were no turns.
	requests map[probe.Purpose]float64
}

// RequestsOf returns a function that counts the requests to a target that are no turns.
func (r *Recorder) RequestsOf(target string) func(probe.Purpose) {
	return func(p probe.Purpose) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.targets[target].count(p, 1)
	}
}

// count does nothing for a target without jobs.
func (t *targetSeries) count(p probe.Purpose, requests float64) {
	if t != nil {
		t.requests[p] += requests
	}
}

// server holds what a target's own metrics say. Its counters grow by the increases of each
// reading and never fall, even if the server restarts.
type server struct {
	last serverside.Reading
	// preempted is the sum of the increases; unknown if the server does not export them.
	preempted probe.Opt[float64]
	// read is true after the first reading.
	read bool
}

// configure sets the configuration of the target. A model that is discovered stays as last
// found.
func (t *targetSeries) configure(info fleet.Job) {
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

// own returns the labels that the configuration gives to a target's series.
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

// address returns a URL without the parts that may hold a secret.
func address(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// setModel records the discovered model of a target.
func (r *Recorder) setModel(target, model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.targets[target]; t != nil {
		t.model = model
	}
}

// ServerRead records a reading of a target's own metrics, unless no job asks for them.
func (r *Recorder) ServerRead(target string, reading serverside.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.targets[target]
	t.count(probe.ForMetrics, float64(reading.Requests))
	if t == nil || t.server == nil {
		return
	}
	s := t.server
	s.read, s.last = true, reading
	if p := reading.Preemptions; p.OK {
		s.preempted = probe.Some(s.preempted.V + max(0, p.V))
	}
}

// gather adds the series of the target. Unknown server values have no series.
func (t *targetSeries) gather(e *exposition, l labels) {
	e.add(targetInfo, l.with("model", t.model).with("connection", t.connection).with("url", t.url), 1)
	for _, p := range []probe.Purpose{probe.ForModels, probe.ForRefusedField, probe.ForMetrics} {
		e.add(otherRequests, l.with(labelPurpose, string(p)), t.requests[p])
	}
	s := t.server
	if s == nil || !s.read {
		return
	}
	e.add(ServerMetricsUp, l, boolValue(s.last.Complete))
	age := probe.Opt[float64]{V: s.last.TokenAge.V.Seconds(), OK: s.last.TokenAge.OK}
	for name, v := range map[string]probe.Opt[float64]{
		ServerRunning: s.last.Running, ServerWaiting: s.last.Waiting, ServerKVUse: s.last.KVUse, ServerTokenAge: age, ServerPreemptions: s.preempted,
	} {
		if v.OK {
			e.add(name, l, v.V)
		}
	}
}
