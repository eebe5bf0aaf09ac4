// Package simulate is a simulated LLM deployment: an http.Handler that answers in every API that the
// prober speaks. It invents texts, caches prefixes, counts tokens, fails like real deployments, and
// has the metrics of vLLM. The duration of an answer comes from configured delays, separate for each
// request, or from package cluster, where requests share queue, batch and cache.
//
// A deployment starts no goroutine and waits only for timers, request contexts and other requests.
// It runs in any server, on loopback or over in-memory connections, and under testing/synctest.
// Requests that hang end when their client leaves: before waiting for a server to end, close its
// clients or its connections.
package simulate

import (
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/probe/dialect"
)

// Deployment is a simulated deployment. Use New. It is safe for concurrent use.
type Deployment struct {
	http.Handler
	cache   *prefixCache
	latency histograms // without a cluster

	driver *driver // of the cluster; nil without one

	began    time.Time
	mu       sync.Mutex
	options  Options     // as given, without defaults
	requests uint64      // valid requests so far
	recent   [][]message // histories of the last requests, newest last, at most recentKept

	statsMu sync.Mutex
	stats   Stats
}

// New returns a deployment whose time begins now; under testing/synctest, call it inside the bubble.
// It panics on options that [Options.Validate] refuses.
func New(o Options) *Deployment {
	if err := o.Validate(); err != nil {
		panic(fmt.Sprintf("simulate: %v", err))
	}
	d := &Deployment{
		began:   time.Now(),
		cache:   newPrefixCache(),
		latency: newHistograms(),
		options: o,
		stats:   Stats{Finished: map[string]int{}},
	}
	if o.Cluster != nil {
		d.driver = o.withDefaults().start(*o.Cluster, d.began)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.CollectorFunc(d.collect))
	mux := http.NewServeMux()
	for name, a := range apis() {
		mux.HandleFunc(dialect.Of(name).Route(), guard(http.MethodPost, a.errorBody, d.handle(a)))
	}
	mux.HandleFunc("/v1/models", guard(http.MethodGet, openAIError, d.models))
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": "0.0.0+simulated"})
	})
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		newError(http.StatusNotFound, "NotFoundError", "There is nothing at %s.", r.URL.Path).write(w, openAIError)
	})
	d.Handler = mux
	return d
}

// Update changes the options for later requests. change gets the options as they were given,
// without defaults, and must not call the Deployment. The cluster and its load do not change.
func (d *Deployment) Update(change func(*Options)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.options)
}

// guard checks the method before next runs.
func guard(method string, errorBody func(*apiError) any, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			w.Header().Set("Allow", method)
			newError(http.StatusMethodNotAllowed, "invalid_request_error", "Method %s is not allowed here; use %s.", r.Method, method).
				write(w, errorBody)
			return
		}
		next(w, r)
	}
}

// Stats are the counts of a deployment since its start.
type Stats struct {
	// Requests counts requests, except those for lists of models.
	Requests int
	// Running requests are being answered. Waiting requests hang.
	Running, Waiting int
	// PromptTokens counts the prompts of answered requests. CachedTokens of them were cached.
	PromptTokens, CachedTokens, OutputTokens int
	// Finished counts ended answers by reason: stop, length, tool_calls, error (a fault in
	// mid-stream) and abort (the client left).
	Finished map[string]int

	held int // tokens of the running requests
}

// Stats returns the counts so far.
func (d *Deployment) Stats() (stats Stats) {
	d.updateStats(func(s *Stats) {
		stats = *s
		stats.Finished = maps.Clone(s.Finished)
	})
	return stats
}

func (d *Deployment) updateStats(change func(*Stats)) {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	change(&d.stats)
}

func (d *Deployment) models(w http.ResponseWriter, _ *http.Request) {
	o := d.current()
	list := []any{map[string]any{
		"id": o.Model, "object": "model", "created": 0, "owned_by": "simulated", "root": o.Model,
		"parent": nil, "max_model_len": o.MaxModelLen,
	}}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}
