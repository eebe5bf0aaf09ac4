package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipe returns a Client whose connections are in memory, so that it works under fake time. answer
// is the server's side of a connection.
func pipe(t *testing.T, answer func(net.Conn)) *Client {
	c := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			answer(far)
		}()
		return near, nil
	}})
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// readRequest reads a request without a body.
func readRequest(c net.Conn) {
	buf := make([]byte, 4<<10)
	c.Read(buf)
}

func TestHeaderDeadline(t *testing.T) {
	for name, answer := range map[string]func(net.Conn){
		"silent":        readRequest,
		"amid headers":  func(c net.Conn) { readRequest(c); io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ") },
		"does not read": func(net.Conn) {},
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

// TestCancel checks that errors have the cause of a canceled context, and that the deadline of a
// context counts as a deadline.
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

// readAll sends a request and reads the answer. It sets a deadline before each read, which must not
// undo a cancellation.
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

func TestReadDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := pipe(t, func(c net.Conn) {
			readRequest(c)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
			time.Sleep(2 * time.Second)
			io.WriteString(c, "abc")
			readRequest(c) // until the other side is gone
		})
		r, _ := post(t, "http://test/")
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		start, body, buf := time.Now(), resp.Body.(*Body), make([]byte, 10)
		body.SetReadDeadline(start.Add(time.Second))
		body.SetReadDeadline(start.Add(3 * time.Second)) // moved before it has passed
		if n, err := body.Read(buf); string(buf[:n]) != "abc" || err != nil {
			t.Errorf("got %q, %v", buf[:n], err)
		}
		for range 2 {
			_, err := body.Read(buf)
			var failed *Error
			if !errors.As(err, &failed) || failed.Step != StepBody || !failed.Timeout() {
				t.Fatalf("got %v", err)
			}
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		if err := body.SetReadDeadline(time.Now()); err != nil {
			t.Errorf("after the end: %v", err)
		}
	})
}

// TestFailedRequestLeavesItsTrace has a server that reads nothing, so that the write of a request and the read of its answer
// meet the deadline together. Run it with -race: the trace is the caller's once RoundTrip has returned.
func TestFailedRequestLeavesItsTrace(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // it accepts nothing: the kernel takes the connections and a part of the requests
	client := newClient(t, Options{})
	large := strings.NewReader(strings.Repeat("x", 16<<20))
	for range 30 {
		trace := &Trace{HeaderDeadline: time.Now().Add(20 * time.Millisecond), Late: func(time.Time) time.Duration { return 0 }}
		large.Seek(0, io.SeekStart)
		r, err := http.NewRequestWithContext(WithTrace(t.Context(), trace), http.MethodPost, "http://"+l.Addr().String(), large)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.RoundTrip(r); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the error is %v", err)
		}
		if trace.Extended != 0 {
			t.Errorf("the deadline was extended by %s", trace.Extended)
		}
	}
}
