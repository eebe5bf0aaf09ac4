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

// gone reports whether the server has closed a connection.
func gone(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	timeout, ok := err.(net.Error)
	return !ok || !timeout.Timeout()
}

// TestTheLongestWaitingGivesWay: connections that wait make room, in the order in
// which they began to.
func TestTheLongestWaitingGivesWay(t *testing.T) {
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
			t.Error("a connection too many got no answer: nothing gave way")
		}
		if !gone(silent) || gone(idle) {
			t.Errorf("the silent one is gone: %v, the idle one: %v", gone(silent), gone(idle))
		}
	})
}

// TestSlowRequestsGiveWay: bodies that trickle in do not deafen the port.
func TestSlowRequestsGiveWay(t *testing.T) {
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
			t.Error("a connection too many got no answer: no slow request gave way")
		}
	})
}

// TestRequestsKeepTheirConnections: who has a request under way does not lose it
// to a newcomer.
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
		if !gone(third) {
			t.Error("a connection too many was let in")
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
			t.Error("there is no room after the others left")
		}
	})
}

func TestLevel(t *testing.T) {
	c := newConnections(3)
	client, server := net.Pipe()
	defer client.Close()
	in := c.admit(server)
	if used, limit := c.Level(); used != 1 || limit != 3 {
		t.Errorf("%v of %v", used, limit)
	}
	in.Close()
	in.Close()
	if used, _ := c.Level(); used != 0 {
		t.Errorf("%v after it was closed", used)
	}
}
