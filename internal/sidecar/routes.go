package sidecar

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

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

// Server returns a server for Handler.
func (s *Sidecar) Server() *http.Server { return httpserver.New(s.Handler(), s.options.Logger) }

// Routes returns all paths. The ones that change something come last.
func (s *Sidecar) Routes() []Route {
	routes := []Route{
		{Pattern: "GET /metrics", Gives: "all series, except the series of leased targets", handler: httpserver.Scrapes(s.recorder.Handler(promhttp.HandlerOpts{
			ErrorLog: errorLog{s.options.Logger}, Registry: s.registry, DisableCompression: true,
		}, s.registry))},
		{Pattern: "GET /-/healthy", Gives: "whether the process runs", handler: http.HandlerFunc(healthy)},
		{Pattern: "GET /-/ready", Gives: "whether the process probes", handler: http.HandlerFunc(s.ready)},
	}
	for _, r := range s.page.Routes() {
		routes = append(routes, Route{Pattern: r.Pattern, Gives: r.Shows, handler: r.Handler})
	}
	return append(routes,
		Route{"GET /probe", "the series of a leased target",
			"a client with a password or a client certificate of `--web.config.file`; anyone else for the hosts that `allowed_hosts` names exactly, and for half of `max_targets` at most; no browser",
			"leases a target of a module of `discovery`: the process probes it, with the module's key, for the module's `lease`", http.HandlerFunc(s.lease)},
		Route{"POST /-/reload", "the mistakes of the file", lifecycleCallers,
			"reads the configuration file again", lifecycle(s.options.Web.Lifecycle, "reloading", s.reload)},
		Route{"POST /-/accept", "the accepted levels", lifecycleCallers,
			"makes a target's current level its baseline, which ends its regression alerts", lifecycle(s.options.Web.Lifecycle, "accepting a level", s.accept)},
	)
}

// Handler returns the handler of all paths that the sidecar serves. With a prefix, / leads to the status page.
func (s *Sidecar) Handler() http.Handler {
	mux, prefix := http.NewServeMux(), s.options.Web.RoutePrefix
	// A request that changes something may name a host of the public DNS if it has shown a password or a certificate,
	// which the page of another site cannot, or if the name is our own.
	trusts := func(r *http.Request) bool {
		host := httpserver.HostOf(r.Host)
		return authenticated(r, s.options.Web.ConfigFile) || host == s.pager.externalHost || host == strings.ToLower(s.options.Replica)
	}
	for _, r := range s.Routes() {
		if r.Changes != "" {
			r.handler = httpserver.OwnSite(r.handler, trusts)
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
func lifecycle(enabled bool, action string, handle http.HandlerFunc) http.Handler {
	if !enabled {
		handle = func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, action+" over HTTP is not enabled: start synthetic run with --web.enable-lifecycle", http.StatusForbidden)
		}
	}
	return handle
}
