package wire

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowWriter is a connection whose writes end only when it is closed. taken returns how many bytes
// have been written by then. It imitates a process that is stopped before or during a write.
type slowWriter struct {
	net.Conn
	taken  func(p []byte) int
	closed chan struct{}
	once   sync.Once
}

func (c *slowWriter) Write(p []byte) (int, error) {
	<-c.closed
	time.Sleep(50 * time.Millisecond) // the process notices the close late
	if n := c.taken(p); n > 0 {
		return n, nil
	}
	return 0, net.ErrClosed
}

func (c *slowWriter) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestWhetherAnythingWasWritten checks that a failed request has a known state: whether any byte of
// it was written, even if a write was in progress.
func TestWhetherAnythingWasWritten(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, tc := range map[string]struct {
		taken func(p []byte) int
		wrote bool
	}{
		"nothing": {func([]byte) int { return 0 }, false},
		"a byte":  {func([]byte) int { return 1 }, true},
		"all":     {func(p []byte) int { return len(p) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := New(Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
				return &slowWriter{Conn: conn, taken: tc.taken, closed: make(chan struct{})}, err
			}})
			defer c.CloseIdleConnections()
			trace := Trace{HeaderDeadline: time.Now().Add(100 * time.Millisecond)}
			req, err := http.NewRequestWithContext(WithTrace(t.Context(), &trace), http.MethodPost, "http://"+silent.Addr().String(), strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.RoundTrip(req); err == nil {
				t.Fatal("a silent server has answered")
			}
			if got := !trace.FirstWrite.IsZero(); got != tc.wrote || trace.LastWrite.IsZero() == tc.wrote {
				t.Errorf("first write %v, last %v; want some: %v", trace.FirstWrite, trace.LastWrite, tc.wrote)
			}
		})
	}
}
