package wire

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/bound"
)

// streams is a server over HTTP/2 that counts the connections with a request, and those of them that
// ended. net/http can dial once more than it needs: while it stores a new connection, a request of the
// next microseconds does not see it. The handler waits for a value from next, and limit is the number
// of concurrent streams of a connection.
type streams struct {
	*httptest.Server
	used   sync.Map // of addresses of clients
	opened atomic.Int32
	closed chan struct{}
	next   chan struct{}
}

func newStreams(t *testing.T, limit int) (*streams, Options) {
	s := &streams{closed: make(chan struct{}, 1000), next: make(chan struct{}, 100)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, known := s.used.LoadOrStore(r.RemoteAddr, true); !known {
			s.opened.Add(1)
		}
		io.Copy(io.Discard, r.Body) // the server reports the rest after its answer, in bytes that nobody reads in time
		io.WriteString(w, r.Proto)
		w.(http.Flusher).Flush()
		select {
		case <-s.next:
		case <-r.Context().Done():
		}
	}))
	s.EnableHTTP2 = true
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: limit}
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if _, used := s.used.Load(c.RemoteAddr().String()); used && state == http.StateClosed {
			s.closed <- struct{}{}
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	o := trusting(s.Server)
	o.HTTP.EnableHTTP2 = true
	return s, o
}

// TestHTTP2LateReader reads a body later than its bytes arrived.
func TestHTTP2LateReader(t *testing.T) {
	server, o := newStreams(t, 100)
	resp, err := New(o).RoundTrip(httptest.NewRequest(http.MethodGet, server.URL, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	time.Sleep(500 * time.Millisecond)
	if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	a := resp.Body.(*Body).Arrival()
	if late := a.Seen.Sub(a.At); late < 100*time.Millisecond || a.Kernel {
		t.Errorf("arrival %+v, read %s later; want about 500ms", a, late)
	}
}

// TestHTTP2Streams has concurrent requests. They share a connection up to its limit of streams, and
// later requests use the connections that are there.
func TestHTTP2Streams(t *testing.T) {
	for _, test := range []struct{ limit, requests, conns int }{{100, 1, 1}, {3, 3, 1}, {1, 3, 3}, {2, 4, 2}} {
		s, o := newStreams(t, test.limit)
		client := newClient(t, o)
		s.next <- struct{}{}
		get(t, client, s.URL) // the settings have arrived
		for range 3 {
			var bodies []*http.Response
			for range test.requests {
				r, _ := post(t, s.URL)
				resp, err := client.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				bodies = append(bodies, resp)
			}
			for _, resp := range bodies {
				s.next <- struct{}{}
				defer resp.Body.Close()
			}
			for _, resp := range bodies {
				if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "HTTP/2.0" {
					t.Errorf("%q, %v", b, err)
				}
				resp.Body.Close()
			}
		}
		if n := int(s.opened.Load()); n != test.conns {
			t.Errorf("%d streams per connection, %d concurrent requests: %d connections, want %d", test.limit, test.requests, n, test.conns)
		}
	}
}

// TestHTTP2Closed checks that every connection is closed in the end, and that a request after that
// dials.
func TestHTTP2Closed(t *testing.T) {
	start := func(t *testing.T, c *Client, url string) *http.Response {
		r, _ := post(t, url)
		resp, err := c.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	for name, test := range map[string]struct {
		options Options
		use     func(t *testing.T, c *Client, s *streams)
	}{
		"after an answer": {use: func(t *testing.T, c *Client, s *streams) {
			s.next <- struct{}{}
			get(t, c, s.URL)
			c.CloseIdleConnections()
		}},
		"after a canceled answer": {use: func(t *testing.T, c *Client, s *streams) {
			start(t, c, s.URL).Body.Close()
			c.CloseIdleConnections()
		}},
		"during an answer": {use: func(t *testing.T, c *Client, s *streams) {
			resp := start(t, c, s.URL)
			c.CloseIdleConnections()
			s.next <- struct{}{}
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "HTTP/2.0" {
				t.Errorf("the answer in flight: %q, %v", b, err)
			}
			resp.Body.Close()
		}},
		"without reuse": {options: Options{DisableReuse: true}, use: func(t *testing.T, c *Client, s *streams) {
			s.next <- struct{}{}
			get(t, c, s.URL)
		}},
		"by the server": {use: func(t *testing.T, c *Client, s *streams) {
			s.next <- struct{}{}
			get(t, c, s.URL)
			s.CloseClientConnections()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := newStreams(t, 100)
			o.DisableReuse, o.Connections = test.options.DisableReuse, bound.NewBudget(10*filesPerDial)
			client := newClient(t, o)
			for range 3 {
				test.use(t, client, s)
				<-s.closed
			}
			if n := s.opened.Load(); n != 3 {
				t.Errorf("%d connections", n)
			}
			client.CloseIdleConnections()
			for !o.Connections.Take(10 * filesPerDial) { // each has returned what it took
				runtime.Gosched()
			}
		})
	}
}

// TestHTTP2OverAProxy has requests that share one tunnel.
func TestHTTP2OverAProxy(t *testing.T) {
	s, o := newStreams(t, 100)
	proxy, asked := proxyServer(t)
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	o.HTTP.ProxyURL = promconfig.URL{URL: u}
	client := newClient(t, o)
	for range 2 {
		s.next <- struct{}{}
		if _, _, body := get(t, client, s.URL); body != "HTTP/2.0" || len(asked()) != 1 {
			t.Errorf("%q, the proxy saw %q", body, asked())
		}
	}
	client.CloseIdleConnections()
	<-s.closed
}

// TestHTTP2ConcurrentDials has many requests at once over a new client. Run it with -race.
func TestHTTP2ConcurrentDials(t *testing.T) {
	s, o := newStreams(t, 100)
	client := newClient(t, o)
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			s.next <- struct{}{}
			r, _ := post(t, s.URL)
			resp, err := client.RoundTrip(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := s.opened.Load(); n > 30 {
		t.Errorf("%d connections for 30 requests", n)
	}
}
