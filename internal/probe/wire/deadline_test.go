package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe/stream"
)

// pipe returns a Client whose connections are in memory, so that it works
// under fake time. answer speaks for the server.
func pipe(t *testing.T, answer func(net.Conn)) *Client {
	c := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			answer(far)
		}()
		return near, nil
	}})
	t.Cleanup(c.CloseIdle)
	return c
}

// readRequest reads a request without a body.
func readRequest(c net.Conn) {
	buf := make([]byte, 4<<10)
	c.Read(buf)
}

func TestArrivalsUnderFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := pipe(t, func(c net.Conn) {
			readRequest(c)
			time.Sleep(time.Second)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			for range 3 {
				time.Sleep(time.Second)
				io.WriteString(c, "3\r\nabc\r\n")
			}
			io.WriteString(c, "0\r\n\r\n")
		})
		start := time.Now()
		r, trace := post(t, "http://test/")
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got := trace.Headers.Sub(start); got != time.Second {
			t.Errorf("headers after %v", got)
		}
		body := resp.Body.(*Body)
		for i := range 3 {
			buf := make([]byte, 100)
			n, err := body.Read(buf)
			at := body.Arrival()
			if want := time.Duration(i+2) * time.Second; n != 3 || err != nil || at.At.Sub(start) != want || at.Kernel {
				t.Errorf("read %d: %d bytes at %v, %v", i, n, at.At.Sub(start), err)
			}
		}
		if _, err := body.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	})
}

func TestHeaderDeadline(t *testing.T) {
	for name, answer := range map[string]func(net.Conn){
		"silent":          readRequest,
		"amid headers":    func(c net.Conn) { readRequest(c); io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ") },
		"deaf to writing": func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop := make(chan struct{})
				client := pipe(t, func(c net.Conn) { answer(c); <-stop })
				defer close(stop)
				r, trace := post(t, "http://test/")
				start := time.Now()
				trace.HeaderDeadline = start.Add(3 * time.Second)
				_, err := client.RoundTrip(r)
				var failed *Error
				if !errors.As(err, &failed) || !errors.Is(err, os.ErrDeadlineExceeded) || !failed.Timeout() {
					t.Fatalf("got %v", err)
				}
				if took := time.Since(start); took != 3*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestDialDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := New(Options{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		r, trace := post(t, "http://test/")
		trace.HeaderDeadline = time.Now().Add(time.Second)
		_, err := client.RoundTrip(r)
		var failed *Error
		if !errors.As(err, &failed) || failed.Step != StepConnect || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

var errShutdown = errors.New("shutting down")

// A canceled context gives its cause at every step, and a context's own
// deadline reads as a deadline.
func TestCancel(t *testing.T) {
	stages := map[string]func(net.Conn){
		"before headers": readRequest,
		"in the body": func(c net.Conn) {
			readRequest(c)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
		},
	}
	for name, answer := range stages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop := make(chan struct{})
				defer close(stop)
				client := pipe(t, func(c net.Conn) { answer(c); <-stop })
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(errShutdown) })
				if err := readAll(client, ctx); !errors.Is(err, errShutdown) {
					t.Errorf("canceled: %v", err)
				}
				bounded, release := context.WithTimeout(t.Context(), time.Second)
				defer release()
				err := readAll(client, bounded)
				if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("timed out: %v", err)
				}
			})
		})
	}
}

// readAll sends a request and reads the answer, setting a deadline before each
// read: that must not undo a cancellation.
func readAll(c *Client, ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://test/", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := c.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := resp.Body.(*Body)
	for err == nil {
		if err := body.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
			return err
		}
		_, err = body.Read(make([]byte, 100))
	}
	return err
}

// A context that ends before the request starts opens no connection.
func TestCanceledBefore(t *testing.T) {
	client := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("dialed")
		return nil, io.EOF
	}})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errShutdown)
	if err := readAll(client, ctx); !errors.Is(err, errShutdown) {
		t.Errorf("got %v", err)
	}
}

func TestReadDeadlineIsRearmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := pipe(t, func(c net.Conn) {
			readRequest(c)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
			time.Sleep(10 * time.Second)
			io.WriteString(c, "abc")
		})
		r, _ := post(t, "http://test/")
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body := resp.Body.(*Body)
		for range 2 {
			body.SetReadDeadline(time.Now().Add(time.Second))
			_, err := body.Read(make([]byte, 10))
			var failed *Error
			if !errors.As(err, &failed) || failed.Step != StepBody || !failed.Timeout() {
				t.Fatalf("got %v", err)
			}
		}
		body.SetReadDeadline(time.Time{})
		if b, err := io.ReadAll(body); err != nil || string(b) != "abc" {
			t.Errorf("got %q, %v", b, err)
		}
		if err := body.SetReadDeadline(time.Now()); err != nil {
			t.Errorf("after the end: %v", err)
		}
	})
}

// late is a connection whose reader comes too late: the deadline is over when
// it first looks, and the bytes came at a time.
type late struct {
	net.Conn
	reads int
	at    time.Time
	text  string
}

func (l *late) Read(p []byte) (int, error) {
	if l.reads++; l.reads == 1 {
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, l.text)
	l.text = l.text[n:]
	return n, nil
}

func (l *late) SetReadDeadline(time.Time) error { return nil }
func (l *late) arrival() stream.Arrival         { return stream.Arrival{At: l.at, Kernel: true} }
func (l *late) quiet() bool                     { return false }

// What arrived before the deadline counts, however late it is looked at.
func TestHeadersThatArrivedInTime(t *testing.T) {
	deadline := time.Now()
	for name, test := range map[string]struct {
		after time.Duration
		ok    bool
	}{"before the deadline": {-time.Millisecond, true}, "after it": {time.Millisecond, false}} {
		t.Run(name, func(t *testing.T) {
			l := &late{at: deadline.Add(test.after), text: "HTTP/1.1 204 No Content\r\n\r\n"}
			resp, _, err := New(Options{}).readHeaders(&conn{Conn: l, stamps: l}, &http.Request{}, deadline)
			if test.ok && (err != nil || resp.StatusCode != http.StatusNoContent) {
				t.Errorf("got %v and %v", resp, err)
			}
			if !test.ok && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v and %v", resp, err)
			}
		})
	}
}
