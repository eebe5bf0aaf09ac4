package httpserver

import (
	"log/slog"
	"net"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"synthetic/internal/simulate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// port is a server of New over connections in memory.
type port struct {
	t     *testing.T
	pipes *simulate.Pipes
}

// open serves h until stop is called.
func open(t *testing.T, h http.Handler) (p port, stop func()) {
	t.Helper()
	p = port{t, simulate.NewPipes()}
	server := New(h, slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() { done <- server.Serve(p.pipes) }()
	return p, func() {
		server.Close()
		<-done
	}
}

// connect opens a connection and sends text.
func (p port) connect(text string) net.Conn {
	p.t.Helper()
	c, err := p.pipes.Dial(p.t.Context(), "", "")
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := c.Write([]byte(text)); err != nil {
		p.t.Fatal(err)
	}
	return c
}
