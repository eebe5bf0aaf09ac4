package sidecar

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/httplimit"
	"synthetic/internal/sidecar/status"
)

var compressions = []promhttp.Compression{promhttp.Identity, promhttp.Gzip}

// Handler returns the handler of all paths that the sidecar serves.
func (s *Sidecar) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", s.limits.pages.Handler(httplimit.Pages(s.page)))
	mux.Handle("GET /metrics", s.limits.scrapes.Handler(httplimit.Scrapes(s.recorder.Handler(promhttp.HandlerOpts{
		ErrorLog: errorLog{s.logger}, Registry: s.registry, OfferedCompressions: compressions,
	}, s.registry))))
	mux.Handle("GET /probe", s.limits.scrapes.Handler(httplimit.Pages(http.HandlerFunc(s.lease))))
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "synthetic is up")
	})
	mux.HandleFunc("GET /-/ready", s.ready)
	mux.Handle("POST /-/reload", s.lifecycle("reloading", s.reload))
	mux.Handle("POST /-/mark", s.lifecycle("marking", s.mark))
	mux.Handle("POST /-/accept", s.lifecycle("accepting a level", s.accept))
	return mux
}

// lifecycle answers requests that change the process, if these are enabled.
func (s *Sidecar) lifecycle(action string, handle http.HandlerFunc) http.Handler {
	if !s.options.Lifecycle {
		handle = func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, action+" over HTTP is not enabled: start synthetic run with --web.enable-lifecycle", http.StatusForbidden)
		}
	}
	return s.limits.reloads.Handler(handle)
}

func (s *Sidecar) reload(w http.ResponseWriter, _ *http.Request) {
	if err := s.Load(); err != nil {
		http.Error(w, fmt.Sprintf("the configuration was not loaded; the old one stays in force:\n%v", err), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, "reloaded")
}

// lease answers /probe. It renews the lease of the target that Prometheus names and returns the
// target's current series. The target is probed in the background; a request sends nothing to
// it.
func (s *Sidecar) lease(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if !query.Has("target") || !query.Has("module") {
		http.Error(w, "write /probe?target=ADDRESS&module=NAME, with a module of the configuration", http.StatusBadRequest)
		return
	}
	name, err := s.discovery.Lease(query.Get("module"), query.Get("target"))
	if err != nil {
		status := http.StatusInternalServerError
		if refused, ok := errors.AsType[discovery.RefusedError](err); ok {
			status = refused.Status
		}
		http.Error(w, err.Error(), status)
		return
	}
	promhttp.HandlerFor(s.recorder.ForTarget(name), promhttp.HandlerOpts{
		ErrorLog: errorLog{s.logger}, EnableOpenMetrics: true, OfferedCompressions: compressions,
	}).ServeHTTP(w, r)
}

// mark records a change that may explain later measurements, such as a release. Parameters:
// text, and target (empty means all).
func (s *Sidecar) mark(w http.ResponseWriter, r *http.Request) {
	text, target := r.FormValue("text"), r.FormValue("target")
	switch {
	case text == "":
		http.Error(w, "text is missing: say what changed, for example POST /-/mark?text=release+1.2.3&target=NAME", http.StatusBadRequest)
	case target != "" && !slices.Contains(s.recorder.Names(), target):
		http.Error(w, s.unknown(target, ""), http.StatusNotFound)
	default:
		s.page.Mark(status.Mark{Kind: status.MarkDeploy, Target: target, Text: text})
		s.logger.Info("A change was marked", "text", text, "target", target)
		fmt.Fprintln(w, "marked")
	}
}

// ready answers 200 while every traffic loop gives signs of life. The server starts after the
// first configuration was loaded. A stalled pager adds a line but keeps the status 200: a pod
// that is not ready leaves its Service, and Prometheus would lose the metrics because of the
// pager.
func (s *Sidecar) ready(w http.ResponseWriter, _ *http.Request) {
	if err := s.scheduler.Healthy(); err != nil {
		http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "synthetic is ready")
	if s.pager == nil {
		return
	}
	if err := s.pager.Health().Stalled; err != nil {
		fmt.Fprintln(w, "but its pager has stopped:", err)
	}
}

// errorLog writes promhttp's errors to the logger.
type errorLog struct{ logger *slog.Logger }

func (l errorLog) Println(v ...any) {
	l.logger.Error("Serving /metrics", "err", fmt.Sprint(v...))
}
