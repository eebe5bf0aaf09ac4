package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"synthetic/internal/bound"
)

// TestConnectionBudget checks that a dial reserves the descriptors that it may use at once, that an
// open connection counts as one until it is closed, and that a failed dial counts as none.
func TestConnectionBudget(t *testing.T) {
	server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
		io.WriteString(c, helloResponse)
		return true
	})
	budget := bound.NewBudget(filesPerDial + 1)
	used := func(want float64) {
		t.Helper()
		if got, _ := budget.Level(); got != want {
			t.Errorf("%v connections are counted, want %v", got, want)
		}
	}
	var clients []*Client
	for range 2 {
		clients = append(clients, newClient(t, Options{Connections: budget}))
		exchanged(t, clients[len(clients)-1], server.URL)
	}
	used(2) // both are kept
	third := newClient(t, Options{Connections: budget})
	r, _ := post(t, server.URL)
	if _, err := third.RoundTrip(r); !errors.Is(err, ErrNoRoom) {
		t.Errorf("a dial without room: %v", err)
	}
	used(2)
	exchanged(t, clients[0], server.URL) // needs no new connection
	clients[0].CloseIdleConnections()
	used(1)
	exchanged(t, third, server.URL)
	used(2)
	third.CloseIdleConnections()
	server.Close()
	r, _ = post(t, server.URL)
	if _, err := third.RoundTrip(r); err == nil || errors.Is(err, ErrNoRoom) {
		t.Errorf("nobody listens: %v", err)
	}
	used(1)
}
