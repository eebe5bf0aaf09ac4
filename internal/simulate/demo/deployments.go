package demo

import (
	"bytes"
	_ "embed"
	"fmt"
	"net"

	"synthetic/internal/simulate"
)

//go:embed demo.yml
var configText []byte

// Start serves a deployment for each target on a loopback port. stop ends them,
// and requests that hang, too.
func Start(targets []Target) (addrs []string, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for _, t := range targets {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("listening for the simulated deployment: %w", err)
		}
		addrs = append(addrs, l.Addr().String())
		stops = append(stops, simulate.Serve(l, simulate.New(t.Options)))
	}
	return addrs, stop, nil
}

// ConfigFor is the demo's configuration for deployments that serve at
// their addresses.
func ConfigFor(targets []Target, addrs []string) []byte {
	out, _, _ := bytes.Cut(configText, []byte("targets:\n"))
	out = append(bytes.Clone(out), "targets:\n"...)
	for i, t := range targets {
		out = fmt.Appendf(out, "  - {name: %s, base_url: 'http://%s/v1', server_metrics: {interval: 5s}}\n", t.Name, addrs[i])
	}
	return out
}
