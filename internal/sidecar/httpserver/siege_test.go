package httpserver

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

var siege = flag.Bool("siege", false, "a scrape must take less than 2 s, which needs a quiet machine")

// TestSiege holds 2,000 idle connections and 300 readers that do not read, and floods the port with
// headers. A scrape needs less than 2 s (with -siege, otherwise 10 s), and the process less than 250 MB, also
// with 16 connections.
func TestSiege(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 2,300 connections; make test-long runs it")
	}
	for _, most := range []int{maxConnections, 16} {
		t.Run(fmt.Sprint(most, " connections"), func(t *testing.T) {
			body := strings.Repeat("synthetic_turns_total 1\n", 1<<17) // 3 MB
			server := New(Scrapes(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })), slog.New(slog.DiscardHandler))
			server.ConnState = newConnections(most).set
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go server.Serve(l)
			defer server.Close()
			open := func(text string) {
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				_, _ = io.WriteString(c, text)
			}
			for range 2000 {
				open("")
			}
			for range 300 {
				open("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
			}
			stop := make(chan struct{})
			for range 20 {
				go func() {
					for {
						select {
						case <-stop:
							return
						case <-time.After(10 * time.Millisecond): // the flood shares the processors with the server
						}
						if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
							_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n"+strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 32))
							c.Close()
						}
					}
				}()
			}
			defer close(stop)
			longest := 10 * time.Second // Prometheus' default
			if *siege {
				longest = 2 * time.Second
			}
			for range 5 {
				start := time.Now()
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				resp, err := client.Get("http://" + l.Addr().String() + "/metrics")
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if took := time.Since(start); err != nil || len(text) != len(body) || took > longest {
					t.Errorf("%d bytes after %v, error %v", len(text), took, err)
				}
				time.Sleep(500 * time.Millisecond)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			t.Logf("%d MB", m.Sys>>20)
			if m.Sys > 250<<20 {
				t.Errorf("%d MB are in use", m.Sys>>20)
			}
		})
	}
}
