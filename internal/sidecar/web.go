package sidecar

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// noReload answers POST /-/reload where reloading over HTTP is not enabled.
const noReload = "reloading over HTTP is not enabled: start synthetic run with --web.enable-lifecycle, or send it SIGHUP"

// Handler returns what the sidecar serves.
func (s *Sidecar) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", s.page)
	mux.Handle("GET /metrics", s.recorder.Handler(promhttp.HandlerOpts{
		ErrorLog: errorLog{s.logger},
		Registry: s.registry,
	}, s.registry))
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "synthetic is up")
	})
	mux.HandleFunc("GET /-/ready", s.ready)
	mux.HandleFunc("POST /-/reload", s.reload)
	return mux
}

// reload answers POST /-/reload.
func (s *Sidecar) reload(w http.ResponseWriter, _ *http.Request) {
	if !s.options.Lifecycle {
		http.Error(w, noReload, http.StatusForbidden)
		return
	}
	if err := s.Load(); err != nil {
		http.Error(w, fmt.Sprintf("the configuration was not loaded; the old one stays in force:\n%v", err), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, "reloaded")
}

// ready answers 200 only while every traffic loop shows signs of life. The
// server starts after the first configuration was loaded, so that part of
// being ready holds by construction.
func (s *Sidecar) ready(w http.ResponseWriter, _ *http.Request) {
	if err := s.scheduler.Healthy(); err != nil {
		http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "synthetic is ready")
}

// errorLog hands the exposition's errors to the logger.
type errorLog struct{ logger *slog.Logger }

func (l errorLog) Println(v ...any) {
	l.logger.Error("Serving /metrics", "err", fmt.Sprint(v...))
}
