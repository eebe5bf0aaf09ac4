package metrics

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/probe"
)

func TestThin(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	run(r, turn("a", probe.First, start, 300*time.Millisecond, 20*time.Millisecond, 5))
	h := r.Handler(promhttp.HandlerOpts{DisableCompression: true})
	for _, accept := range []string{"", "application/openmetrics-text;version=1.0.0"} {
		req := httptest.NewRequest("GET", "/metrics", nil)
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		t.Log(w.Body.String())
	}
}
