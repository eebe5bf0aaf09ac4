package metrics

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// TestHandlerIsPromhttp: the large buffer changes no byte of any format, over
// real connections, with an exposition larger than it.
func TestHandlerIsPromhttp(t *testing.T) {
	r := busyRecorder(5)
	ours := httptest.NewServer(r.Handler(promhttp.HandlerOpts{}))
	defer ours.Close()
	plain := httptest.NewServer(promhttp.HandlerForTransactional(r.Gatherer(), promhttp.HandlerOpts{EnableOpenMetrics: true}))
	defer plain.Close()
	for name, accept := range formats() {
		for _, encoding := range []string{"identity", "gzip"} {
			for range 2 { // the second time with a used buffer
				want, got := body(t, plain, accept, encoding), body(t, ours, accept, encoding)
				if encoding == "identity" && name != "protobuf" && len(want) < 2*bufferSize {
					t.Fatalf("%s has only %d bytes: it tests nothing", name, len(want))
				}
				if got != want {
					t.Errorf("%s, %s: %d bytes differ from promhttp's %d", name, encoding, len(got), len(want))
				}
			}
		}
	}
}

func body(t *testing.T, s *httptest.Server, accept, encoding string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("Accept-Encoding", encoding)
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, error %v", resp.StatusCode, err)
	}
	return resp.Header.Get("Content-Type") + resp.Header.Get("Content-Encoding") + "\n" + string(b)
}

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

// TestHandlerError: an error reaches the scraper as status and text.
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
