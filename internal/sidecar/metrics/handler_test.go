package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

func TestHandlerFilter(t *testing.T) {
	w := httptest.NewRecorder()
	newTestRecorder(&clock{start}, "a").Handler(promhttp.HandlerOpts{}).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics?name[]="+ConfigLastReloadSuccessful, nil))
	want := "# HELP synthetic_config_last_reload_successful Whether the last load of the configuration succeeded (1) or failed (0).\n" +
		"# TYPE synthetic_config_last_reload_successful gauge\n" +
		"synthetic_config_last_reload_successful 1\n"
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

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
