// Package simulate is a simulated OpenAI-compatible deployment: an
// http.Handler that answers chat completions with invented text, caches
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
	"fmt"
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
	mux   *http.ServeMux
	cache *prefixCache
	meter *meter

	began    time.Time
	mu       sync.Mutex
	options  Options         // as given, without defaults
	sequence uint64          // chat requests that were valid so far
	driver   *driver         // of the cluster that serves
	runs     *cluster.Config // what the driver was started for
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
		mux:     http.NewServeMux(),
		cache:   newPrefixCache(),
		meter:   newMeter(),
		options: o,
	}
	d.serving() // a cluster's load begins at once
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{d})
	d.mux.HandleFunc("/v1/chat/completions", d.guard(http.MethodPost, d.chat))
	d.mux.HandleFunc("/v1/models", d.guard(http.MethodGet, d.models))
	d.mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	d.mux.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": version})
	})
	d.mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	d.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&apiError{status: http.StatusNotFound, kind: "NotFoundError", code: http.StatusNotFound,
			message: "There is nothing at " + r.URL.Path + "."}).write(w)
	})
	return d
}

// ServeHTTP implements http.Handler.
func (d *Deployment) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.mux.ServeHTTP(w, r) }

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

// Stats returns what the deployment has done so far.
func (d *Deployment) Stats() Stats { return d.meter.read() }

// current returns the options in force, defaults filled in.
func (d *Deployment) current() Options {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.options.withDefaults()
}

// number returns the next request's place in the sequence, from 1.
func (d *Deployment) number() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sequence++
	return d.sequence
}

// guard checks the method and the key before a handler of the API.
func (d *Deployment) guard(method string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch want := d.current().APIKey; {
		case r.Method != method:
			w.Header().Set("Allow", method)
			(&apiError{status: http.StatusMethodNotAllowed, kind: "invalid_request_error", code: http.StatusMethodNotAllowed,
				message: "Method " + r.Method + " is not allowed here; use " + method + "."}).write(w)
		case want != "" && key != want:
			unauthorized(key).write(w)
		default:
			next(w, r)
		}
	}
}

// models lists the one model.
func (d *Deployment) models(w http.ResponseWriter, _ *http.Request) {
	o, _ := d.serving()
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": o.Model, "object": "model", "created": 0, "owned_by": "simulated", "root": o.Model,
		"parent": nil, "max_model_len": o.MaxModelLen,
	}}})
}
