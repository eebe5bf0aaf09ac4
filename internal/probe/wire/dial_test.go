package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestDialTriesEveryAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tried []string
		client := New(Options{
			Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
				time.Sleep(time.Second)
				return []netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("::ffff:192.0.2.1"), netip.MustParseAddr("192.0.2.2")}, nil
			},
			Dial: func(ctx context.Context, _, addr string) (net.Conn, error) {
				tried = append(tried, addr)
				switch len(tried) {
				case 1:
					<-ctx.Done() // silent
					return nil, ctx.Err()
				case 2:
					return nil, syscall.ECONNREFUSED
				}
				near, far := net.Pipe()
				go func() {
					defer far.Close()
					readRequest(far)
					io.WriteString(far, helloResponse)
				}()
				return near, nil
			},
		})
		defer client.CloseIdle()
		r, trace := post(t, "http://llm.example:8000/")
		trace.HeaderDeadline = time.Now().Add(10 * time.Second)
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got, want := strings.Join(tried, " "), "[2001:db8::1]:8000 192.0.2.1:8000 192.0.2.2:8000"; got != want {
			t.Errorf("tried %s, want %s", got, want)
		}
		if trace.DNS != time.Second || trace.Connect != 3*time.Second {
			t.Errorf("DNS took %v, connecting %v", trace.DNS, trace.Connect)
		}
	})
}

func TestDialFailures(t *testing.T) {
	noName := errors.New("no such host")
	for name, test := range map[string]struct {
		url     string
		options Options
		step    Step
		is      error
		says    string
	}{
		"no scheme": {"llm.example/v1", Options{}, StepConnect, nil, "want http:// or https:// and a host"},
		"no host":   {"http:///v1", Options{}, StepConnect, nil, "want http:// or https:// and a host"},
		"resolver": {"http://llm.example/", Options{Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return nil, noName
		}}, StepDNS, noName, "dns: no such host"},
		"no address": {"http://llm.example/", Options{Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return nil, nil
		}}, StepDNS, nil, `the name "llm.example" has no address`},
		"refused": {refusedURL(t), Options{}, StepConnect, syscall.ECONNREFUSED, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			body := &closing{Reader: strings.NewReader("x")}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, test.url, body)
			if err != nil {
				t.Fatal(err)
			}
			_, err = newClient(t, test.options).RoundTrip(r)
			var failed *Error
			if !errors.As(err, &failed) || failed.Step != test.step || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
			if !body.closed {
				t.Error("the request's body was not closed")
			}
		})
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// refusedURL is the address of a port that nobody listens on any more.
func refusedURL(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String() + "/"
}

func TestPortOf(t *testing.T) {
	for raw, want := range map[string]string{"http://a": "80", "https://a": "443", "https://[::1]:8": "8"} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := portOf(u); got != want {
			t.Errorf("portOf(%s) = %s, want %s", raw, got, want)
		}
	}
}

// The answer to a request that the server does not read to its end is not
// lost, and the connection is not kept.
func TestEarlyAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.Read(make([]byte, 100))
		fmt.Fprint(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge")
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
	}()
	client := newClient(t, Options{})
	trace, resp, body := get(t, client, "http://"+l.Addr().String())
	if resp.StatusCode != 413 || body != "large" || trace.Reused {
		t.Errorf("got %d %q", resp.StatusCode, body)
	}
	client.CloseIdle()
	l.Close()
	<-served
}

// large is more than a socket takes that nobody reads.
func large(t *testing.T, addr string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr, bytes.NewReader(make([]byte, 32<<20)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The answer of a server that hangs up amid a large request is not lost.
func TestEarlyAnswerToALargeRequest(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Read(make([]byte, 100))
		fmt.Fprint(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge")
		c.Close() // with unread data, which resets the connection
	}()
	defer func() { l.Close(); <-served }()
	resp, err := newClient(t, Options{}).RoundTrip(large(t, l.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", resp.StatusCode)
	}
}

// A server that does not read a large request runs into the deadline.
func TestWriteDeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // the connection waits in its backlog
	r := large(t, l.Addr().String())
	trace := &Trace{HeaderDeadline: time.Now().Add(100 * time.Millisecond)}
	_, err = newClient(t, Options{}).RoundTrip(r.WithContext(WithTrace(r.Context(), trace)))
	var failed *Error
	if !errors.As(err, &failed) || failed.Step != StepWrite || !failed.Timeout() {
		t.Errorf("got %v", err)
	}
}
