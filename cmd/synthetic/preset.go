package main

import (
	"context"
	"fmt"
	"net"
	"strings"

	"synthetic/internal/simulate"
	"synthetic/internal/study/sweep"
)

// presetNetwork serves the simulated deployments that a plan names over
// connections in memory; all others are reached over TCP. Without presets dial
// is nil, which is TCP.
func presetNetwork(p sweep.Plan) (dial func(context.Context, string, string) (net.Conn, error), stop func(), err error) {
	network := simulate.Network{Others: (&net.Dialer{}).DialContext}
	for _, v := range p.Variants {
		if v.Preset == "" {
			continue
		}
		o, err := simulate.Preset(v.Preset)
		if err != nil {
			return nil, network.Close, fmt.Errorf("starting the simulated deployment: %w", err)
		}
		o.Model, o.Seed = v.Preset, p.Seed
		host, _, _ := strings.Cut(strings.TrimPrefix(v.Target.BaseURL, "http://"), "/")
		network.Serve(net.JoinHostPort(host, "80"), simulate.New(o))
		dial = network.Dial
	}
	return dial, network.Close, nil
}
