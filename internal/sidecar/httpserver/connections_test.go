package httpserver

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
		time.Sleep(busyAge)
		c := p.connect(get)
		defer c.Close()
		if answerOf(c) == nil {
			t.Error("a connection above the limit got no answer")
		}
	})
}
