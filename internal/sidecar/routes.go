package sidecar

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/load"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/httpserver"
)

// Route is a path that the sidecar serves. SECURITY.md has the table of all of them.
type Route struct {
	Pattern string // of http.ServeMux
	Gives   string
	// Callers is who may change something, Changes what they change; both "" if the route only reads.
	Callers, Changes string
	handler          http.Handler
}

const lifecycleCallers = "everyone, if the process runs with `--web.enable-lifecycle`; no web page of another site"

// port answers the requests of the HTTP port.
type port struct {
	options Options
	followers
	registry  *prometheus.Registry
	scheduler *load.Scheduler
	discovery *discovery.Follower
	pager     *paging
	state     *state
	load      func() error
}

func (s *Sidecar) port() *port {
	return &port{s.options, s.followers, s.registry, s.scheduler, s.discovery, s.pager, s.state, s.Load}
}

// Routes returns all paths, those that change something last.
func (s *Sidecar) Routes() []Route { return s.port().routes() }

// Handler returns the handler of all paths that the sidecar serves. With a prefix, / leads to the status page.
func (s *Sidecar) Handler() http.Handler { return s.port().handler() }

// Server returns a server for Handler.
func (s *Sidecar) Server() *http.Server { return httpserver.New(s.Handler(), s.options.Logger) }

func (p *port) routes() []Route {
	routes := []Route{
		{Pattern: "GET /metrics", Gives: "all series, except the series of leased targets", handler: httpserver.Scrapes(p.recorder.Handler(promhttp.HandlerOpts{
			ErrorLog: errorLog{p.options.Logger}, Registry: p.registry, DisableCompression: true,
		}, p.registry))},
		{Pattern: "GET /-/healthy", Gives: "whether the process runs", handler: http.HandlerFunc(healthy)},
		{Pattern: "GET /-/ready", Gives: "whether the process probes", handler: http.HandlerFunc(p.ready)},
	}
	for _, r := range p.page.Routes() {
		routes = append(routes, Route{Pattern: r.Pattern, Gives: r.Shows, handler: p.page})
	}
	return append(routes,
		Route{"GET /probe", "the series of a leased target",
			"a client with a password or a client certificate of `--web.config.file`; anyone else for the hosts that `allowed_hosts` names exactly, and for half of `max_targets` at most; no browser",
			"leases a target of a module of `discovery`: the process probes it, with the module's key, for the module's `lease`", http.HandlerFunc(p.lease)},
		Route{"POST /-/reload", "the mistakes of the file", lifecycleCallers,
			"reads the configuration file again", p.lifecycle("reloading", p.reload)},
		Route{"POST /-/accept", "the accepted levels", lifecycleCallers,
			"makes a target's current level its baseline, which ends its regression alerts", p.lifecycle("accepting a level", p.accept)},
	)
}

func (p *port) handler() http.Handler {
	mux, prefix := http.NewServeMux(), p.options.Web.RoutePrefix
	for _, r := range p.routes() {
		if r.Changes != "" {
			r.handler = httpserver.OwnSite(r.handler, p.trusts)
		}
		mux.Handle(r.Pattern, r.handler)
	}
	if prefix == "" {
		return mux
	}
	prefixed := http.NewServeMux()
	prefixed.Handle(prefix+"/", http.StripPrefix(prefix, mux))
	prefixed.Handle("GET /{$}", http.RedirectHandler(prefix+"/", http.StatusFound))
	return prefixed
}

func healthy(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "synthetic is up") }

// lifecycle answers requests that change the process, if these are enabled.
func (p *port) lifecycle(action string, handle http.HandlerFunc) http.Handler {
	if !p.options.Web.Lifecycle {
		handle = func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, action+" over HTTP is not enabled: start synthetic run with --web.enable-lifecycle", http.StatusForbidden)
		}
	}
	return handle
}

// trusts reports whether a request that changes something is served although its Host is a name of
// the public DNS: it has shown a password or a certificate, which the page of another site cannot,
// or the name is our own.
func (p *port) trusts(r *http.Request) bool {
	host := httpserver.HostOf(r.Host)
	return p.authenticated(r) || host == p.pager.externalHost || host == strings.ToLower(p.options.Replica)
}
