package metrics

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/probe"
)

// formats are the Accept headers of Prometheus 3: protobuf once native
// histograms are on, OpenMetrics otherwise; and of a plain text scraper.
func formats() map[string]string {
	return map[string]string{
		"text":        "text/plain;version=1.0.0;escaping=allow-utf-8",
		"openmetrics": "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3",
		"protobuf":    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3",
	}
}

// busyRecorder has n targets, each with every series alive: some fifty turns in
// the last minute, of log-normal latencies (σ = 0.5) and a hundred gaps each,
// and one turn in ten failed.
func busyRecorder(n int) *Recorder {
	c := &clock{start}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("deployment-%03d", i)
	}
	r := newTestRecorder(c, names...)
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range 50 {
		c.now = start.Add(time.Duration(step) * time.Second)
		for _, name := range names {
			busyTurn(r, rng, name, step, c.now)
		}
	}
	return r
}

func busyTurn(r *Recorder, rng *rand.Rand, name string, step int, now time.Time) {
	spread := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * math.Exp(rng.NormFloat64()/2))
	}
	kind := probe.TurnKinds()[step%2]
	t := turn(name, kind, now, spread(400*time.Millisecond), 0, 0)
	for range 100 {
		t.Gaps = append(t.Gaps, spread(25*time.Millisecond))
	}
	t.TPOT = probe.Some(spread(25 * time.Millisecond))
	t.Phases.DNS = probe.Some(spread(time.Millisecond))
	t.Phases.Connect = probe.Some(spread(time.Millisecond))
	t.Phases.TLS = probe.Some(spread(5 * time.Millisecond))
	if step%10 == 9 {
		t.Outcome = probe.Failures()[rng.IntN(reasons)]
	}
	r.ConversationStarted(probe.ConversationStart{Target: name, Workload: "chat"})
	run(r, t)
	r.ConversationEnded(probe.Conversation{Target: name, Workload: "chat",
		Scheduled: t.Scheduled, End: t.End, Outcome: t.Outcome, Turns: 1, Planned: 1})
}

// discard is a ResponseWriter that keeps only the size.
type discard struct {
	header http.Header
	size   int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { d.size += len(p); return len(p), nil }

func BenchmarkScrape200(b *testing.B) {
	r := busyRecorder(200)
	h := r.Handler(promhttp.HandlerOpts{DisableCompression: true})
	for name, accept := range formats() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			req.Header.Set("Accept", accept)
			var w *discard
			for b.Loop() {
				w = &discard{header: http.Header{}}
				h.ServeHTTP(w, req)
			}
			b.ReportMetric(float64(w.size)/1e6, "MB/scrape")
			b.ReportMetric(float64(heap(r))/1e6, "MB-heap")
		})
	}
}

// BenchmarkScrapeNetwork200 is a scrape over loopback, client and server on the
// same cores, gzip as Prometheus asks for it or not.
func BenchmarkScrapeNetwork200(b *testing.B) {
	server := httptest.NewServer(busyRecorder(200).Handler(promhttp.HandlerOpts{}))
	defer server.Close()
	for name, accept := range formats() {
		for _, encoding := range []string{"identity", "gzip"} {
			b.Run(name+"/"+encoding, func(b *testing.B) {
				for b.Loop() {
					fetch(b, server.URL, accept, encoding)
				}
			})
		}
	}
}

func fetch(b *testing.B, url, accept, encoding string) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("Accept-Encoding", encoding)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkGather200 is the part of a scrape that is ours: all but the encoding.
func BenchmarkGather200(b *testing.B) {
	g := busyRecorder(200).Gatherer()
	b.ReportAllocs()
	for b.Loop() {
		_, done, err := g.Gather()
		if err != nil {
			b.Fatal(err)
		}
		done()
	}
}

// heap is what is in use after a collection, with the recorder kept alive.
func heap(r *Recorder) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(r)
	return m.HeapAlloc
}

// BenchmarkTurnEnded is a turn of 800 gaps: what one turn costs the goroutine
// of its conversation.
func BenchmarkTurnEnded(b *testing.B) {
	r := newTestRecorder(&clock{start}, "a")
	t := turn("a", probe.Followup, start, 300*time.Millisecond, 0, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 800 {
		t.Gaps = append(t.Gaps, time.Duration(25e6*math.Exp(rng.NormFloat64()/2)))
	}
	s := probe.Start{Target: "a", Workload: "chat", Kind: probe.Followup}
	b.ReportAllocs()
	for b.Loop() {
		r.TurnStarted(s)
		r.TurnEnded(t)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/800, "ns/gap")
}
