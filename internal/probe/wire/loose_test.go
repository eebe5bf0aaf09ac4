package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"
)

// overHTTP2 returns a server, and Options for using HTTP/2 with it.
func overHTTP2(t *testing.T, h http.HandlerFunc) (*httptest.Server, Options) {
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	o := trusting(server)
	o.HTTP.EnableHTTP2 = true
	return server, o
}

func TestHTTP2(t *testing.T) {
	server, o := overHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		io.WriteString(w, r.Proto+" "+string(body))
	})
	if Exact(o.HTTP) {
		t.Error("HTTP/2 counts as exact")
	}
	client := newClient(t, o)
	for i := range 2 {
		trace, resp, body := get(t, client, server.URL)
		if body != "HTTP/2.0 hello" || trace.Reused != (i > 0) || (trace.TLS > 0) == trace.Reused {
			t.Errorf("request %d: %q, trace %+v", i, body, trace)
		}
		if a := resp.Body.(*Body).Arrival(); a.At.IsZero() || a.Kernel {
			t.Errorf("request %d: arrival %+v", i, a)
		}
	}
}

func TestHTTP2Deadlines(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	server, o := overHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			io.WriteString(w, "abc")
			w.(http.Flusher).Flush()
		}
		<-release
	})
	client := newClient(t, o)
	r, trace := post(t, server.URL)
	trace.HeaderDeadline = time.Now().Add(200 * time.Millisecond)
	var failed *Error
	if _, err := client.RoundTrip(r); !errors.As(err, &failed) || !failed.Timeout() {
		t.Errorf("no headers: %v", err)
	}
	r, _ = post(t, server.URL+"/body")
	resp, err := client.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := resp.Body.(*Body)
	body.SetReadDeadline(time.Now().Add(time.Hour))
	if n, err := body.Read(make([]byte, 10)); n != 3 || err != nil {
		t.Errorf("the first bytes: %d, %v", n, err)
	}
	body.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := body.Read(make([]byte, 10)); !errors.As(err, &failed) || failed.Step != StepBody || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("no more bytes: %v", err)
	}
}

// proxyServer forwards requests and tunnels. The function that it returns lists what it was asked for.
func proxyServer(t *testing.T) (*httptest.Server, func() []string) {
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.Host+" "+r.Header.Get("X-Token"))
		mu.Unlock()
		if r.Method != http.MethodConnect {
			io.WriteString(w, "by proxy")
			return
		}
		there, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { defer there.Close(); io.Copy(there, here) }()
		go func() { defer here.Close(); io.Copy(here, there) }()
	}))
	t.Cleanup(s.Close)
	return s, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
}

func TestProxy(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	proxy, asked := proxyServer(t)
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := trusting(server)
	o.HTTP.ProxyURL = promconfig.URL{URL: u}
	o.HTTP.ProxyConnectHeader = promconfig.ProxyHeader{"X-Token": {"t"}}
	if Exact(o.HTTP) {
		t.Error("a proxy counts as exact")
	}
	client := newClient(t, o)
	if _, _, body := get(t, client, server.URL); body != "hello" || !slices.Equal(asked(), []string{"CONNECT " + server.Listener.Addr().String() + " t"}) {
		t.Errorf("a tunnel: %q, the proxy saw %q", body, asked())
	}
	if _, _, body := get(t, client, "http://llm.invalid/"); body != "by proxy" || len(asked()) != 2 || asked()[1] != "POST llm.invalid " {
		t.Errorf("a request: %q, the proxy saw %q", body, asked())
	}
	proxy.Close()
	r, _ := post(t, "http://llm.invalid/")
	client.CloseIdleConnections()
	var failed *Error
	if _, err := client.RoundTrip(r); !errors.As(err, &failed) || failed.Step != StepConnect {
		t.Errorf("a proxy that is down: %v", err)
	}
	r, _ = post(t, "https://127.0.0.1/")
	o.HTTP.TLSConfig = promconfig.TLSConfig{CAFile: "nowhere.pem"}
	if _, err := newClient(t, o).RoundTrip(r); !errors.As(err, &failed) || failed.Step != StepTLS {
		t.Errorf("a missing file: %v", err)
	}
}
