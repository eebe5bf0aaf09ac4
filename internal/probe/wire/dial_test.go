package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDialTimings(t *testing.T) {
	server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
		io.WriteString(c, helloResponse)
		return true
	})
	trace := exchanged(t, newClient(t, Options{}), strings.Replace(server.URL, "127.0.0.1", "localhost", 1))
	if trace.DNS <= 0 || trace.Connect <= 0 || trace.TLS != 0 {
		t.Errorf("a name: DNS took %v, connecting %v, TLS %v", trace.DNS, trace.Connect, trace.TLS)
	}
	trace = exchanged(t, newClient(t, Options{}), server.URL)
	if trace.DNS != 0 || trace.Connect <= 0 {
		t.Errorf("an address: DNS took %v, connecting %v", trace.DNS, trace.Connect)
	}
}

func TestDialFailures(t *testing.T) {
	noName := &net.DNSError{Err: "no such host", Name: "llm.example"}
	for name, test := range map[string]struct {
		url     string
		options Options
		step    Step
		is      error
		says    string
	}{
		"no scheme": {"llm.example/v1", Options{}, StepConnect, nil, "want http:// or https:// and a host"},
		"no host":   {"http:///v1", Options{}, StepConnect, nil, "want http:// or https:// and a host"},
		"no name": {"http://llm.example/", Options{Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: noName}
		}}, StepDNS, noName, "dns: lookup llm.example: no such host"},
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

// refusedURL returns the URL of a port without a listener.
func refusedURL(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String() + "/"
}

// answerEarly serves one connection: it answers before it has read the request, and then ends, so that unread data
// resets the connection. It returns the address.
func answerEarly(t *testing.T) string {
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
	}()
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	return l.Addr().String()
}

// large returns a request that does not fit into the socket buffers.
func large(t *testing.T, addr string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr, bytes.NewReader(make([]byte, 32<<20)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEarlyAnswerToALargeRequest(t *testing.T) {
	addr := answerEarly(t)
	resp, err := newClient(t, Options{}).RoundTrip(large(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", resp.StatusCode)
	}
}

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
