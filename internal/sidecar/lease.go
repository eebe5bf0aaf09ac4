package sidecar

import (
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/sidecar/discovery"
)

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
		ErrorLog: errorLog{s.logger}, EnableOpenMetrics: true,
		OfferedCompressions: []promhttp.Compression{promhttp.Identity, promhttp.Gzip},
	}).ServeHTTP(w, r)
}
