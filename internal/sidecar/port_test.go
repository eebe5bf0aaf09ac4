package sidecar_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
)

// TestACrowdCostsLittle: a thousand concurrent requests cost no more than a few answers.
func TestACrowdCostsLittle(t *testing.T) {
	var text strings.Builder
	text.WriteString("targets:\n")
	for i := range 60 {
		fmt.Fprintf(&text, "  - {name: target-%d, base_url: \"http://deployment-%d.example.com:8000\"}\n", i, i)
	}
	cfg, err := config.Parse("synthetic.yml", []byte(text.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sidecar.New(sidecar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	handler := s.Handler()
	for path, tc := range map[string]struct{ atLeast, most int }{
		"/":        {1 << 10, 512 << 20},   // rendered one after the other
		"/metrics": {900 << 10, 256 << 20}, // a page of about 1 MB: one is rendered each second, not a thousand
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var all sync.WaitGroup
		var answered, refused, size atomic.Int64
		for range 1000 {
			all.Go(func() {
				w := &discarding{header: http.Header{}}
				handler.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1"+path, nil))
				switch w.status {
				case 0, http.StatusOK:
					answered.Add(1)
					size.Store(int64(w.size))
				case http.StatusServiceUnavailable:
					refused.Add(1)
				}
			})
		}
		all.Wait()
		runtime.ReadMemStats(&after)
		if answered.Load() == 0 || answered.Load()+refused.Load() != 1000 || size.Load() < int64(tc.atLeast) {
			t.Errorf("%s: %d answers of %d bytes, %d refused", path, answered.Load(), size.Load(), refused.Load())
		}
		if cost := after.TotalAlloc - before.TotalAlloc; cost > uint64(tc.most) {
			t.Errorf("%s: %d MiB were allocated", path, cost>>20)
		}
	}
}

// discarding counts an answer.
type discarding struct {
	header       http.Header
	status, size int
}

func (d *discarding) Header() http.Header    { return d.header }
func (d *discarding) WriteHeader(status int) { d.status = status }
func (d *discarding) Write(p []byte) (int, error) {
	d.size += len(p)
	return len(p), nil
}
