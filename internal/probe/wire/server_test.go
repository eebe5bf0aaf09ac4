package wire

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http logs the stray bytes that the tests send
	goleak.VerifyTestMain(m)
}

// rawServer is a TCP server. The tests write its answers.
type rawServer struct {
	net.Listener
	URL   string
	conns atomic.Int32 // connections accepted
	reqs  atomic.Int32 // requests read
	open  sync.Map     // net.Conn → nothing
}

// serveRaw calls answer for each request. If answer returns false, the connection is closed.
func serveRaw(t *testing.T, answer func(c net.Conn, r *http.Request) bool) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{Listener: l, URL: "http://" + l.Addr().String()}
	var handlers sync.WaitGroup
	handlers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			s.open.Store(c, nil)
			handlers.Go(func() { s.handle(c, answer) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.open.Range(func(c, _ any) bool {
			c.(net.Conn).Close()
			return true
		})
		handlers.Wait()
	})
	return s
}

func (s *rawServer) handle(c net.Conn, answer func(net.Conn, *http.Request) bool) {
	defer c.Close()
	br := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		s.reqs.Add(1)
		if !answer(c, r) {
			return
		}
	}
}

// newClient returns a Client whose connections are closed at the end of the test.
func newClient(t *testing.T, o Options) *Client {
	c := New(o)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// post returns a request with a trace.
func post(t *testing.T, url string) (*http.Request, *Trace) {
	t.Helper()
	trace := &Trace{}
	r, err := http.NewRequestWithContext(WithTrace(t.Context(), trace), http.MethodPost, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r, trace
}
