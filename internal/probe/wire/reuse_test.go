package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

const helloResponse = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// exchanged sends one request, reads the whole answer and returns the trace.
func exchanged(t *testing.T, c *Client, url string) *Trace {
	t.Helper()
	r, trace := post(t, url)
	resp, err := c.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestReuse(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		between func(*Client)
		want    bool
	}{
		"kept":     {want: true},
		"disabled": {options: Options{DisableReuse: true}},
		"closed":   {between: (*Client).CloseIdleConnections},
	} {
		t.Run(name, func(t *testing.T) {
			server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
				io.WriteString(c, helloResponse)
				return true
			})
			client := newClient(t, test.options)
			if exchanged(t, client, server.URL).Reused {
				t.Error("the first request went over a kept connection")
			}
			if test.between != nil {
				test.between(client)
			}
			trace := exchanged(t, client, server.URL)
			if trace.Reused != test.want {
				t.Errorf("reused: %v", trace.Reused)
			}
			if trace.Reused && trace.Connect != 0 {
				t.Errorf("a reused connection took %v to connect", trace.Connect)
			}
		})
	}
}

func TestReuseAfterAReadDeadline(t *testing.T) {
	server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
		io.WriteString(c, helloResponse)
		return true
	})
	client := newClient(t, Options{})
	r, _ := post(t, server.URL)
	resp, err := client.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	deadline := time.Now().Add(300 * time.Millisecond)
	resp.Body.(*Body).SetReadDeadline(deadline)
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Skip("the machine is too slow for this test: ", err)
	}
	time.Sleep(time.Until(deadline)) // the deadline itself, no waiting for anything
	if !exchanged(t, client, server.URL).Reused {
		t.Error("the connection was not kept")
	}
}

// TestDeadIdleConnection checks that a kept connection is not used after the server closed it or
// wrote to it.
func TestDeadIdleConnection(t *testing.T) {
	for name, farewell := range map[string]string{"closed": "", "stray bytes": "HTTP/1.1 408 Request Timeout\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			var answered atomic.Bool
			said := make(chan struct{})
			server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
				io.WriteString(c, helloResponse)
				if !answered.Swap(true) {
					go func() {
						<-said // the answer was read and the connection is kept
						io.WriteString(c, farewell)
						c.Close()
						said <- struct{}{}
					}()
				}
				return true
			})
			client := newClient(t, Options{})
			exchanged(t, client, server.URL)
			said <- struct{}{}
			<-said
			if exchanged(t, client, server.URL).Reused {
				t.Error("a dead connection was used")
			}
		})
	}
}

func TestRequestBodyFails(t *testing.T) {
	server := serveRaw(t, func(net.Conn, *http.Request) bool { return false })
	broken := errors.New("disk on fire")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = newClient(t, Options{}).RoundTrip(r)
	var failed *Error
	if !errors.As(err, &failed) || failed.Step != StepWrite || !strings.Contains(err.Error(), broken.Error()) {
		t.Errorf("got %v", err)
	}
}

// TestCloseUnread checks that Close before the end of the body closes the connection, so that the
// server can stop.
func TestCloseUnread(t *testing.T) {
	gone := make(chan error, 1)
	server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")
		_, err := c.Read(make([]byte, 1))
		gone <- err
		return false
	})
	client := newClient(t, Options{})
	r, _ := post(t, server.URL)
	resp, err := client.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := <-gone; !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server saw %v", err)
	}
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("reading after Close: %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// TestPromiseNotKept has a server that offers to keep the connection, but closes it with its answer.
// No request fails, because the client waits for the close, which arrives a little later.
func TestPromiseNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				if _, err := far.Read(make([]byte, 4<<10)); err == nil {
					io.WriteString(far, helloResponse)
					time.Sleep(time.Millisecond)
				}
			}()
			return near, nil
		}})
		for range 3 {
			if exchanged(t, client, "http://test/").Reused {
				t.Error("a connection that its server was about to close was used again")
			}
		}
	})
}

func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan time.Time, 1)
		client := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				for {
					buf := make([]byte, 4<<10)
					if _, err := far.Read(buf); err != nil {
						closed <- time.Now()
						return
					}
					io.WriteString(far, helloResponse)
				}
			}()
			return near, nil
		}})
		start := time.Now()
		exchanged(t, client, "http://test/")
		time.Sleep(20 * time.Second)
		if !exchanged(t, client, "http://test/").Reused {
			t.Error("a young connection was not reused")
		}
		if idle := (<-closed).Sub(start); idle != settleTime+20*time.Second+idleTimeout {
			t.Errorf("closed after %v", idle)
		}
	})
}
