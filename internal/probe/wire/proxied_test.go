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

// TestBoundsOverAProxy checks the limits where the connection does not belong to the target: only
// the bytes of the body count, and connections count as usual.
func TestBoundsOverAProxy(t *testing.T) {
	const body = 50_000
	proxy := serveRaw(t, func(c net.Conn, r *http.Request) bool {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n"+strings.Repeat("x", body))
		return true
	})
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	budget := bound.NewBudget(filesPerDial)
	client := newClient(t, Options{Connections: budget, HTTP: promconfig.HTTPClientConfig{
		ProxyConfig: promconfig.ProxyConfig{ProxyURL: promconfig.URL{URL: address}},
	}})
	for limit, unfit := range map[int64]bool{body: false, body - 1: true} {
		r, trace := post(t, "http://target.test/")
		trace.MaxBytes = limit
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		var e *UnfitError
		if errors.As(err, &e) != unfit || !unfit && err != nil {
			t.Errorf("%d bytes, of which %d are allowed: %v", body, limit, err)
		}
		client.CloseIdleConnections()
	}
	if used, _ := budget.Level(); used != 0 {
		t.Errorf("%v connections are counted at the end", used)
	}
}

// TestBoundsOverHTTP2 checks that exactly the bytes of the body count, and that the connection
// counts until it is closed.
func TestBoundsOverHTTP2(t *testing.T) {
	const body = 50_000
	server, o := overHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, strings.Repeat("x", body))
	})
	o.Connections = bound.NewBudget(filesPerDial)
	client := newClient(t, o)
	for limit, unfit := range map[int64]bool{body: false, body - 1: true} {
		r, trace := post(t, server.URL)
		trace.MaxBytes = limit
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		var e *UnfitError
		if errors.As(err, &e) != unfit || !unfit && (err != nil || n != body) {
			t.Errorf("%d of %d bytes, of which %d are allowed: %v", n, body, limit, err)
		}
		if used, _ := o.Connections.Level(); used != 1 {
			t.Errorf("%v connections are counted instead of one", used)
		}
	}
}
