package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	promconfig "github.com/prometheus/common/config"
)

// TestSentOnce has a server that closes a kept connection instead of answering. net/http considers some
// requests safe to repeat: those without a body, and those with an idempotency key.
func TestSentOnce(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"POST":                         func(*http.Request) {},
		"POST with an idempotency key": func(r *http.Request) { r.Header.Set("Idempotency-Key", "k") },
		"GET":                          func(r *http.Request) { r.Method, r.Body, r.GetBody, r.ContentLength = http.MethodGet, nil, nil, 0 },
	} {
		for _, proxied := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				var n atomic.Int32
				server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
					if n.Add(1) > 1 {
						return false
					}
					_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
					return err == nil
				})
				var o Options
				if proxied {
					u, err := url.Parse(server.URL)
					if err != nil {
						t.Fatal(err)
					}
					o.HTTP.ProxyURL = promconfig.URL{URL: u}
				}
				client := newClient(t, o)
				exchanged(t, client, server.URL)
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("hello"))
				if err != nil {
					t.Fatal(err)
				}
				change(r)
				if _, err := client.RoundTrip(r); err == nil || !strings.HasPrefix(err.Error(), "headers: ") || !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
					t.Errorf("proxied %v: %v", proxied, err)
				}
				if got := server.reqs.Load(); got != 2 {
					t.Errorf("proxied %v: %d requests, want 2", proxied, got)
				}
			})
		}
	}
}
