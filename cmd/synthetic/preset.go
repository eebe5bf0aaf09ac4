package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/study/sweep"
)

// presetNames lists the simulated deployments that a plan may name.
func presetNames() []string { return cluster.Presets() }

// presetHandler returns a simulated deployment by its name.
func presetHandler(name string, seed uint64) (http.Handler, error) {
	config, err := cluster.Preset(name)
	if err != nil {
		return nil, err
	}
	o := simulate.Options{Model: name, Seed: seed, Cluster: &config, Answer: presetAnswer(name)}
	return simulate.New(o), nil
}

// presetAnswer is how long the answers were that the preset's figures were
// measured with, as far as they tell: those of the chat lean against their
// limit of 1,024 tokens, those of the two open loops differ.
func presetAnswer(name string) simulate.Length {
	switch name {
	case "bench-phase0":
		return simulate.Length{Median: 517, Sigma: 0.25}
	case "bench-eagle3":
		return simulate.Length{Median: 880, Sigma: 0.1}
	}
	return simulate.Length{Median: 900, Sigma: 0.25}
}

// presetNetwork serves simulated deployments over connections in memory. Each
// starts with its first connection.
type presetNetwork struct {
	seed uint64

	mu      sync.Mutex
	servers map[string]*presetServer
}

// presetServer is one simulated deployment.
type presetServer struct {
	conns  chan net.Conn
	ctx    context.Context // until the listener is closed
	cancel context.CancelFunc
	server *http.Server
	served chan struct{}
}

func newPresetNetwork(seed uint64) *presetNetwork {
	return &presetNetwork{seed: seed, servers: map[string]*presetServer{}}
}

// dialer returns nil, which is TCP, unless the plan names a preset: those hosts
// are reached in memory and all others over TCP.
func (n *presetNetwork) dialer(p sweep.Plan) func(context.Context, string, string) (net.Conn, error) {
	hosts := map[string]string{}
	for _, v := range p.Variants {
		if v.Preset != "" {
			host, _, _ := strings.Cut(strings.TrimPrefix(v.Target.BaseURL, "http://"), "/")
			hosts[net.JoinHostPort(host, "80")] = v.Preset
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		preset, ok := hosts[addr]
		if !ok {
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
		s, err := n.server(preset)
		if err != nil {
			return nil, err
		}
		return s.dial(ctx)
	}
}

// server returns the running deployment of a preset.
func (n *presetNetwork) server(preset string) (*presetServer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := n.servers[preset]; s != nil {
		return s, nil
	}
	h, err := presetHandler(preset, n.seed)
	if err != nil {
		return nil, fmt.Errorf("starting the simulated deployment: %w", err)
	}
	s := &presetServer{conns: make(chan net.Conn), server: sidecar.NewServer(h), served: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.server.BaseContext = func(net.Listener) context.Context { return s.ctx }
	go func() {
		defer close(s.served)
		_ = s.server.Serve(s) // ends by close, with http.ErrServerClosed
	}()
	n.servers[preset] = s
	return s, nil
}

// close ends all deployments and waits for them.
func (n *presetNetwork) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.servers {
		_ = s.server.Close()
		<-s.served
	}
}

func (s *presetServer) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case s.conns <- server:
		return client, nil
	case <-s.ctx.Done():
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept implements net.Listener.
func (s *presetServer) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (s *presetServer) Close() error {
	s.cancel()
	return nil
}

// Addr implements net.Listener.
func (s *presetServer) Addr() net.Addr { return &net.UnixAddr{Name: "preset", Net: "memory"} }
