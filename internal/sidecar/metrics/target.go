package metrics

import (
	"maps"
	"net/url"
	"slices"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/sink"
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
	last              serverside.Reading
	drafted, accepted float64
	// total holds the sums of the increases. Its gauges are not used.
	total serverside.State
	// read is true after the first reading, counted after the first reading with counters.
	read, counted bool
}

// configure sets the configuration of the target. A model that is discovered stays as last
// found.
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
	if reading.Counted {
		s.counted = true
		s.drafted += max(0, reading.Drafted)
		s.accepted += max(0, reading.Accepted)
	}
	sums := loadCounters(&s.total)
	for i, c := range loadCounters(&reading.State) {
		if c.figure.OK {
			*sums[i].figure = probe.Some(sums[i].figure.V + max(0, c.figure.V))
		}
	}
}

// loadFigure is a figure of a server's load with the name of its series.
type loadFigure struct {
	name   string
	figure *probe.Opt[float64]
}

func loadGauges(s *serverside.State) []loadFigure {
	age := probe.Opt[float64]{V: s.TokenAge.V.Seconds(), OK: s.TokenAge.OK}
	return []loadFigure{{ServerRunning, &s.Running}, {ServerWaiting, &s.Waiting}, {ServerKVUse, &s.KVUse}, {ServerTokenAge, &age}}
}

func loadCounters(s *serverside.State) []loadFigure {
	return []loadFigure{
		{ServerPreemptions, &s.Preemptions}, {ServerQueueSeconds, &s.QueueSeconds}, {ServerQueuedRequests, &s.QueuedRequests},
		{ServerPromptTokens, &s.PromptTokens}, {ServerCachedTokens, &s.CachedTokens}, {ServerOutputTokens, &s.OutputTokens},
	}
}

// gather adds the series of the target. Unknown server values have no series.
func (t *targetSeries) gather(e *exposition, l labels) {
	e.add(targetInfo, l.with("model", t.model).with("connection", t.connection).with("url", t.url), 1)
	for _, p := range slices.Sorted(maps.Keys(t.requests)) {
		e.part(otherRequests, l, labelPurpose, string(p), t.requests[p])
	}
	s := t.server
	if s == nil || !s.read {
		return
	}
	e.add(ServerMetricsUp, l, boolValue(s.last.Complete))
	if s.counted {
		e.add(ServerDrafted, l, s.drafted)
		e.add(ServerAccepted, l, s.accepted)
	}
	if a := s.last.Acceptance; a.OK {
		e.add(ServerAcceptance, l, a.V)
	}
	for _, f := range append(loadGauges(&s.last.State), loadCounters(&s.total)...) {
		if f.figure.OK {
			e.add(f.name, l, f.figure.V)
		}
	}
}
