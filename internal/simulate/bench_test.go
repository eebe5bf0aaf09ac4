package simulate

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// discard is a ResponseWriter that discards everything.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
func (d discard) Flush()                      {}

// BenchmarkEvent measures the cost of an event without HTTP.
func BenchmarkEvent(b *testing.B) {
	d := New(Options{FirstToken: Delay{Median: time.Nanosecond}, InterToken: Delay{Median: time.Nanosecond}, MaxModelLen: 1 << 40})
	body := question + `,"ignore_eos":true,"max_tokens":1000}`
	b.ReportAllocs()
	for i := 0; i < b.N; i += 1000 {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		d.ServeHTTP(discard{http.Header{}}, r)
	}
}
