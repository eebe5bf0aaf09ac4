package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/bound"
)

// TestBoundsWithoutAnOwnConnection checks the limits over a proxy and over HTTP/2: exactly the bytes of the body
// count, and a connection counts until it is closed.
func TestBoundsWithoutAnOwnConnection(t *testing.T) {
	body := strings.Repeat("x", 50_000)
	proxy := serveRaw(t, func(c net.Conn, r *http.Request) bool {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n"+body)
		return true
	})
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	server, http2 := overHTTP2(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
	for target, o := range map[string]Options{
		server.URL: http2,
		"http://target.test/": {HTTP: promconfig.HTTPClientConfig{
			ProxyConfig: promconfig.ProxyConfig{ProxyURL: promconfig.URL{URL: address}},
		}},
	} {
		o.Connections = bound.NewBudget(filesPerDial)
		client := newClient(t, o)
		for limit, unfit := range map[int64]bool{50_000: false, 49_999: true} {
			r, trace := post(t, target)
			trace.MaxBytes = limit
			resp, err := client.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			if used, _ := o.Connections.Level(); used != 1 && !unfit {
				t.Errorf("%s: %v connections are counted instead of one", target, used)
			}
			resp.Body.Close()
			var e *UnfitError
			if errors.As(err, &e) != unfit || !unfit && (err != nil || n != 50_000) {
				t.Errorf("%s: %d of 50000 bytes, of which %d are allowed: %v", target, n, limit, err)
			}
		}
		client.CloseIdleConnections()
		if used, _ := o.Connections.Level(); used != 0 && target != server.URL {
			t.Errorf("%s: %v connections are counted at the end", target, used)
		}
	}
}
