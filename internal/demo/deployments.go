package demo

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"strings"

	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
)

//go:embed demo.yml
var configText []byte

// Deployment is a simulated deployment on a loopback port.
type Deployment struct {
	*simulate.Deployment
	// Addr is where it serves, "host:port".
	Addr   string
	server *http.Server
	cancel context.CancelFunc
	served chan struct{}
}

// Start starts a deployment for each target.
func Start(targets []Target) ([]*Deployment, error) {
	var all []*Deployment
	for _, t := range targets {
		d, err := start(t.Options)
		if err != nil {
			Close(all)
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func start(o simulate.Options) (*Deployment, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the simulated deployment: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &Deployment{Deployment: simulate.New(o), Addr: l.Addr().String(), cancel: cancel, served: make(chan struct{})}
	d.server = sidecar.NewServer(d.Deployment)
	d.server.BaseContext = func(net.Listener) context.Context { return ctx }
	go func() {
		defer close(d.served)
		_ = d.server.Serve(l) // ends by Close, with http.ErrServerClosed
	}()
	return d, nil
}

// Close ends the servers and waits for them; requests that hang end, too.
func Close(all []*Deployment) {
	for _, d := range all {
		d.cancel()
		_ = d.server.Close()
		<-d.served
	}
}

// ConfigFor is the demo's configuration for deployments that serve at
// their addresses.
func ConfigFor(targets []Target, addrs []string) []byte {
	var lines []string
	for i, t := range targets {
		lines = append(lines, fmt.Sprintf("{name: %s, base_url: 'http://%s/v1', server_metrics: {interval: 5s}}", t.Name, addrs[i]))
	}
	return bytes.Replace(configText, []byte("TARGETS"), []byte("["+strings.Join(lines, ", ")+"]"), 1)
}
