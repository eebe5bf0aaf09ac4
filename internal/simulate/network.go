package simulate

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve serves h until stop is called. stop also ends requests that hang.
func Serve(l net.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // returns http.ErrServerClosed
	}()
	return func() {
		_ = server.Close()
		<-served
	}
}

// Pipes is a listener with in-memory connections, so that a server and its clients can run in
// virtual time. Use NewPipes.
type Pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

// NewPipes returns an open listener.
func NewPipes() *Pipes {
	done := make(chan struct{})
	return &Pipes{conns: make(chan net.Conn), done: done, close: sync.OnceFunc(func() { close(done) })}
}

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error {
	p.close()
	return nil
}

// Addr implements net.Listener.
func (p *Pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Dial connects to the listener. It ignores network and address.
func (p *Pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Network is a network of in-memory servers, by addresses such as "deployment:80". The zero value
// has no servers.
type Network struct {
	// Others dials all other addresses. Without it they are unknown.
	Others func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex
	hosts map[string]*Pipes
	stops []func()
}

// Serve serves h at an address, instead of an earlier server there. A stopped server refuses
// connections.
func (n *Network) Serve(addr string, h http.Handler) (p *Pipes, stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hosts == nil {
		n.hosts = map[string]*Pipes{}
	}
	p = NewPipes()
	n.hosts[addr] = p
	stop = Serve(p, h)
	n.stops = append(n.stops, stop)
	return p, stop
}

// Dial connects to a server.
func (n *Network) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n.mu.Lock()
	p := n.hosts[addr]
	n.mu.Unlock()
	switch {
	case p != nil:
		return p.Dial(ctx, network, addr)
	case n.Others != nil:
		return n.Others(ctx, network, addr)
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: net.UnknownNetworkError(addr)}
}

// Close stops all servers.
func (n *Network) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, stop := range n.stops {
		stop()
	}
}
