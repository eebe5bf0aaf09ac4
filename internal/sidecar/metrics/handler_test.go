package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// TestHandlerError checks that the scraper gets an error as status and text.
func TestHandlerError(t *testing.T) {
	broken := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return nil, errors.New("the neighbour is broken")
	})
	w := httptest.NewRecorder()
	newTestRecorder(&clock{start}, "a").Handler(promhttp.HandlerOpts{}, broken).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "the neighbour is broken") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
