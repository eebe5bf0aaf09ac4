package httpserver

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// counting renders metrics. It counts the renderings and the most concurrent ones.
type counting struct {
	h                   http.Handler
	total, current, max atomic.Int64
}

func newCounting() *counting {
	registry := prometheus.NewRegistry()
	renderings := prometheus.NewCounter(prometheus.CounterOpts{Name: "renderings_total", Help: "Number of renderings."})
	registry.MustRegister(renderings)
	serve := promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true, DisableCompression: true})
	c := &counting{}
	c.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		renderings.Inc()
		serve.ServeHTTP(w, r)
	})
	return c
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.total.Add(1)
	c.max.Store(max(c.max.Load(), c.current.Add(1)))
	defer c.current.Add(-1)
	time.Sleep(50 * time.Millisecond)
	c.h.ServeHTTP(w, r)
}

func ask(h http.Handler, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestScrapesShareARendering checks that all requests within a second get the same answer, and that a
// later one gets a new answer.
func TestScrapesShareARendering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		render := newCounting()
		h := Scrapes(render)
		bodies := make([]string, 100)
		var all sync.WaitGroup
		for i := range bodies {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				bodies[i] = ask(h).Body.String()
			})
		}
		all.Wait()
		if n := render.total.Load(); n != 1 {
			t.Errorf("%d renderings for 100 scrapes at once", n)
		}
		for i, b := range bodies {
			if b != bodies[0] || !strings.Contains(b, "renderings_total 1") {
				t.Fatalf("scrape %d got\n%s", i, b)
			}
		}
		time.Sleep(freshFor)
		if b := ask(h).Body.String(); !strings.Contains(b, "renderings_total 2") {
			t.Errorf("a second later:\n%s", b)
		}
	})
}

// TestScrapesFormats checks that arbitrary Accept headers cause at most one rendering per format, and
// no concurrent ones.
func TestScrapesFormats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		render := newCounting()
		h := Scrapes(render)
		random := rand.New(rand.NewPCG(1, 2))
		accepts := []string{"", "*/*", "text/plain", "application/openmetrics-text;version=1.0.0;escaping=dots", "application/openmetrics-text",
			"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=allow-utf-8",
			"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", "image/png", ";;;,q=", "text/plain;escaping=nonsense"}
		var all sync.WaitGroup
		for i := range 200 {
			accept := accepts[random.IntN(len(accepts))] + fmt.Sprintf(", x/y%d;q=0.1", i)
			encoding := []string{"", "gzip", "zstd", "gzip;q=0", "br, gzip;q=0.5"}[random.IntN(5)]
			all.Go(func() {
				if w := ask(h, "Accept", accept, "Accept-Encoding", encoding); w.Code != http.StatusOK {
					t.Errorf("%s, %s: %d", accept, encoding, w.Code)
				}
			})
		}
		all.Wait()
		if n := render.total.Load(); n > int64(2*len(formats())) {
			t.Errorf("%d renderings within a second", n)
		}
		if n := render.max.Load(); n != 1 {
			t.Errorf("%d renderings at a time", n)
		}
	})
}

func TestScrapesNegotiate(t *testing.T) {
	h := Scrapes(newCounting())
	for _, tc := range []struct{ accept, encoding, typ, body string }{
		{"", "", "text/plain; version=0.0.4", "renderings_total 1"},
		{"*/*", "identity", "text/plain; version=0.0.4", "renderings_total 1"},
		{"application/openmetrics-text;version=1.0.0", "", "application/openmetrics-text; version=1.0.0", "# EOF"},
		{"application/openmetrics-text;version=0.0.1", "gzip", "application/openmetrics-text; version=0.0.1", "# EOF"},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "", "application/vnd.google.protobuf", "renderings_total"},
		{"text/plain", "br;q=1, GZIP ;q=0.2", "text/plain; version=0.0.4", "# TYPE renderings_total counter"},
		{"text/plain", "gzip;q=0", "text/plain; version=0.0.4", "# TYPE renderings_total counter"},
	} {
		w := ask(h, "Accept", tc.accept, "Accept-Encoding", tc.encoding)
		body := io.Reader(w.Body)
		zipped := strings.Contains(strings.ToLower(tc.encoding), "gzip") && !strings.Contains(tc.encoding, "q=0")
		zipped = zipped || strings.Contains(tc.encoding, "GZIP")
		if vary := strings.Join(w.Header().Values("Vary"), ", "); !strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("%+v: Vary %q: a cache could give a compressed page to a client that takes none", tc, vary)
		}
		if (w.Header().Get("Content-Encoding") == "gzip") != zipped {
			t.Errorf("%+v: encoding %q", tc, w.Header().Get("Content-Encoding"))
		} else if zipped {
			body, _ = gzip.NewReader(w.Body)
		}
		text, err := io.ReadAll(body)
		if err != nil || !strings.HasPrefix(w.Header().Get("Content-Type"), tc.typ) || !strings.Contains(string(text), tc.body) {
			t.Errorf("%+v: %v, %v:\n%s", tc, err, w.Header(), text)
		}
	}
	if w := httptest.NewRecorder(); true {
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics?name[]=up", nil))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "metric_relabel_configs") {
			t.Errorf("name[]: %d %s", w.Code, w.Body)
		}
	}
}

// TestScrapesBrokenRendering checks that a failed rendering is not used again.
func TestScrapesBrokenRendering(t *testing.T) {
	status := http.StatusInternalServerError
	h := Scrapes(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	if got := ask(h).Code; got != status {
		t.Errorf("status %d", got)
	}
	status = http.StatusOK
	if got := ask(h).Code; got != status {
		t.Errorf("status %d after it was repaired", got)
	}
}
