package wire

import (
	"net"
	"syscall"
	"testing"
)

// socketOf returns the raw connection of a new TCP connection.
func socketOf(t *testing.T, addr string) (net.Conn, syscall.RawConn) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return c, raw
}

// TestDialedSockets checks that a connection which the peer has accepted, also if it has closed it
// again, is no silence, and that duplicates do not pile up or survive the dial.
func TestDialedSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var s dialedSockets
	for range 20 {
		_, raw := socketOf(t, l.Addr().String())
		if err := s.add(t.Context(), "tcp4", "", raw); err != nil || len(s.files) != 1 {
			t.Fatalf("%d duplicates (%v), want the last one", len(s.files), err)
		}
	}
	if asked, open := s.evidence(); !open || !asked.IsZero() {
		t.Errorf("an open connection: open %v, asked %v", open, asked)
	}
	c, raw := socketOf(t, l.Addr().String())
	if err := s.add(t.Context(), "tcp6", "", raw); err != nil {
		t.Fatal(err)
	}
	l.Close() // closes the connections that were not accepted
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatal("the peer did not close")
	}
	s.close()
	if err := s.add(t.Context(), "tcp4", "", raw); err != nil || !s.closed {
		t.Errorf("after close: %v", err)
	}
	var closed dialedSockets
	closed.close()
	if err := closed.add(t.Context(), "tcp4", "", raw); err != nil || len(closed.files) != 0 {
		t.Errorf("%d duplicates after close (%v)", len(closed.files), err)
	}
}
