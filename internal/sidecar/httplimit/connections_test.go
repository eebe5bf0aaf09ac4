package httplimit

import (
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// isClosed reports whether the server has closed a connection.
func isClosed(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	timeout, ok := err.(net.Error)
	return !ok || !timeout.Timeout()
}

// TestLongestWaitingIsReplaced checks that a new connection replaces the longest waiting one.
func TestLongestWaitingIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, stop := open(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), 2)
		defer stop()
		silent := p.connect("")
		defer silent.Close()
		time.Sleep(time.Second)
		idle := p.connect(get)
		defer idle.Close()
		if answerOf(idle) == nil {
			t.Fatal("no answer")
		}
		time.Sleep(time.Second)
		third := p.connect(get)
		defer third.Close()
		if answerOf(third) == nil {
			t.Error("a connection above the limit got no answer")
		}
		if !isClosed(silent) || isClosed(idle) {
			t.Errorf("the silent one is closed: %v, the idle one: %v", isClosed(silent), isClosed(idle))
		}
	})
}

// TestSlowRequestsAreReplaced checks that slow request bodies do not block the port.
func TestSlowRequestsAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, stop := open(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), 2)
		defer stop()
		for range 2 {
			slow := p.connect("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
			defer slow.Close()
			go func() { _, _ = io.Copy(io.Discard, slow) }()
		}
		time.Sleep(busyTimeout)
		c := p.connect(get)
		defer c.Close()
		if answerOf(c) == nil {
			t.Error("a connection above the limit got no answer")
		}
	})
}

// TestRequestsKeepTheirConnections checks that a new connection does not replace one with a young
// request.
func TestRequestsKeepTheirConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p, stop := open(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }), 2)
		defer stop()
		busy := []net.Conn{p.connect(get), p.connect(get)}
		synctest.Wait()
		third, err := p.pipes.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer third.Close()
		if !isClosed(third) {
			t.Error("a connection above the limit was accepted")
		}
		close(release)
		for i, c := range busy {
			if answerOf(c) == nil {
				t.Errorf("request %d lost its connection", i)
			}
			c.Close()
		}
		synctest.Wait()
		after := p.connect(get)
		defer after.Close()
		if answerOf(after) == nil {
			t.Error("no answer after the others were closed")
		}
	})
}

func TestLevel(t *testing.T) {
	c := newConnections(3)
	client, server := net.Pipe()
	defer client.Close()
	admitted := c.admit(server)
	if used, limit := c.Level(); used != 1 || limit != 3 {
		t.Errorf("%v of %v", used, limit)
	}
	admitted.Close()
	admitted.Close()
	if used, _ := c.Level(); used != 0 {
		t.Errorf("%v after it was closed", used)
	}
}
