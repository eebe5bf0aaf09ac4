//go:build unix

package metrics

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// discard is a ResponseWriter that counts bytes.
type discard struct {
	header http.Header
	size   int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { d.size += len(p); return len(p), nil }

// BenchmarkScrape5 and the others scrape without the network. They also report CPU
// time, because wall time on a shared machine varies.
func BenchmarkScrape5(b *testing.B)    { scrapes(b, 5) }
func BenchmarkScrape200(b *testing.B)  { scrapes(b, 200) }
func BenchmarkScrape1000(b *testing.B) { scrapes(b, 1000) }

func scrapes(b *testing.B, targets int) {
	r := busyRecorder(targets)
	h := r.Handler(promhttp.HandlerOpts{DisableCompression: true})
	for name, accept := range formats() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			req.Header.Set("Accept", accept)
			var w *discard
			before := cpu(b)
			for b.Loop() {
				w = &discard{header: http.Header{}}
				h.ServeHTTP(w, req)
			}
			b.ReportMetric(float64((cpu(b)-before).Microseconds())/1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(w.size)/1e6, "MB/scrape")
			b.ReportMetric(float64(inUse())/1e6, "MB-heap")
			runtime.KeepAlive(r)
		})
	}
}

// cpu returns the processor time of this process.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
