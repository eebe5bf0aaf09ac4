// Package simulate is a simulated deployment: an http.Handler that answers in
// all APIs that such deployments speak, with invented text, caches
// prefixes, counts tokens, fails in the ways real deployments fail, and says of
// itself under /metrics what vLLM says. How long an answer takes is either
// configured, each request for itself, or worked out by the model of a cluster
// (package cluster), in which requests share queue, batch and cache.
//
// It starts no goroutine and waits only on timers, request contexts and other
// requests, so it runs in any server, on loopback or over in-memory
// connections, and under testing/synctest. Requests that hang end when their
// client goes: close the clients, or the server's connections, before waiting
// for a server to end.
package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/simulate/cluster"
)

// version is what /version says, as vLLM's own endpoint does.
const version = "0.0.0+simulated"

// Deployment is a simulated deployment. Use New. It is safe for concurrent use.
type Deployment struct {
	http.Handler
	cache   *prefixCache
	latency histograms // of a deployment without a cluster

	began    time.Time
	mu       sync.Mutex
	options  Options         // as given, without defaults
	sequence uint64          // requests that were valid so far
	driver   *driver         // of the cluster that serves
	runs     *cluster.Config // what the driver was started for

	counting sync.Mutex
	counts   Stats
}

// New returns a deployment that behaves as the options say. Its time begins
// now, so under testing/synctest call it within the bubble. It panics on
// options that [Options.Validate] refuses.
func New(o Options) *Deployment {
	if err := o.Validate(); err != nil {
		panic(fmt.Sprintf("simulate: %v", err))
	}
	d := &Deployment{
		began:   time.Now(),
		cache:   newPrefixCache(),
		latency: vllmHistograms(),
		options: o,
		counts:  Stats{Finished: map[string]int{}},
	}
	d.serving() // a cluster's load begins at once
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.CollectorFunc(d.collect))
	mux := http.NewServeMux()
	for path, a := range apis() {
		mux.HandleFunc(path, d.guard(http.MethodPost, a.refusal, d.complete(a)))
	}
	mux.HandleFunc("/v1/models", d.guard(http.MethodGet, openAIRefusal, d.models))
	mux.HandleFunc("/api/tags", d.guard(http.MethodGet, plainRefusal, d.tags))
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": version})
	})
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		failure(http.StatusNotFound, "NotFoundError", "There is nothing at %s.", r.URL.Path).write(w, openAIRefusal)
	})
	d.Handler = mux
	return d
}

// Update changes the behaviour of requests that come from now on; those in
// flight keep theirs. change gets the options as they were given, so a field
// that it leaves zero has its default. It must not call the Deployment. A
// cluster that runs keeps what it was started with, but a new pointer in
// Cluster starts another one, as a Rollout does.
func (d *Deployment) Update(change func(*Options)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.options)
}

// guard checks the method and the key before a handler of the API. The key may
// come in any header that an API has for it.
func (d *Deployment) guard(method string, form func(*apiError) any, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o, _ := d.serving()
		key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		key = cmp.Or(key, r.Header.Get("X-Api-Key"), r.Header.Get("Api-Key"))
		switch {
		case r.Method != method:
			w.Header().Set("Allow", method)
			failure(http.StatusMethodNotAllowed, "invalid_request_error", "Method %s is not allowed here; use %s.", r.Method, method).write(w, form)
		case o.APIKey != "" && key != o.APIKey:
			unauthorized(key).write(w, form)
		default:
			next(w, r)
		}
	}
}

// Stats are a deployment's counts since its start.
type Stats struct {
	// Requests are those with a good key that ask for tokens or figures, whatever became of them.
	Requests int
	// Running are being answered now; Waiting hang.
	Running, Waiting int
	// PromptTokens of the answered requests; CachedTokens of them came from
	// the prefix cache. OutputTokens were generated.
	PromptTokens, CachedTokens, OutputTokens int
	// Finished counts answers that ended, by reason: stop, length, error (a
	// fault in mid-stream) and abort (the client went).
	Finished map[string]int
	// TraceID is the trace id of the last valid traceparent header, "" if none.
	TraceID string

	held int // tokens of the running requests
}

// Stats returns what the deployment has done so far.
func (d *Deployment) Stats() (now Stats) {
	d.count(func(s *Stats) {
		now = *s
		now.Finished = maps.Clone(s.Finished)
	})
	return now
}

// count brings the counts up to date.
func (d *Deployment) count(change func(*Stats)) {
	d.counting.Lock()
	defer d.counting.Unlock()
	change(&d.counts)
}
