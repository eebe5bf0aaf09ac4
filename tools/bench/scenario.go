//go:build linux

package main

import (
	"fmt"
	"time"
)

// scenario is a load: streams in flight, and how often each gets a token.
type scenario struct {
	name    string
	streams int
	gap     time.Duration
	// tokens is the length of a turn.
	tokens int
	// together makes all streams get their tokens at the same moments.
	together bool
	// varied makes the lengths of chunks differ, unpinned lets the clients use every core.
	varied, unpinned bool
	// protocol is overTLS or overHTTP2; "" is HTTP/1.1 without TLS.
	protocol string
	// goal is as client.goal, for a scenario that has one for all clients.
	goal float64
}

// overTLS is HTTP/1.1 over TLS, overHTTP2 is HTTP/2 over TLS.
const overTLS, overHTTP2 = "TLS", "HTTP/2"

// judged is the name of the scenario for which clients have goals.
const judged = "1000 x 20/s"

func scenarios() []scenario {
	return []scenario{
		inMemory,
		{name: judged, streams: 1000, gap: 50 * time.Millisecond, tokens: 100},
		{name: "4000 x 15/s", streams: 4000, gap: time.Second / 15, tokens: 75},
		{name: "bursts of 256", streams: 256, gap: 50 * time.Millisecond, tokens: 100, together: true},
		{name: "5000 x 1/s", streams: 5000, gap: time.Second, tokens: 10},
		{name: "1000 x 20/s varied", streams: 1000, gap: 50 * time.Millisecond, tokens: 100, varied: true},
		{name: "1000 x 20/s unpinned", streams: 1000, gap: 50 * time.Millisecond, tokens: 100, unpinned: true},
		{name: "1000 x 20/s TLS", streams: 1000, gap: 50 * time.Millisecond, tokens: 100, protocol: overTLS},
		{name: "1000 x 20/s HTTP/2", streams: 1000, gap: 50 * time.Millisecond, tokens: 100, protocol: overHTTP2},
		installations,
	}
}

// warmUp is the time from the start of a client to its measurement. All streams have started by then, those of "synthetic
// run" at ten per second and target, and nothing of the start of a process is measured.
func (s scenario) warmUp() time.Duration {
	return 2*time.Second + max(time.Duration(s.streams)*time.Second/startRate, time.Duration(s.perTarget())*time.Second/10)
}

// perTarget is how many of the streams "synthetic run" has with one target. Over HTTP/2 they share a connection, which
// permits no more, so that all clients have as many connections. Clients assume 100 before they know.
func (s scenario) perTarget() int {
	n := min(s.streams, 32)
	if s.protocol == overHTTP2 {
		n = 100
	}
	for s.streams%n > 0 {
		n--
	}
	return n
}

func scenarioNamed(name string) (scenario, error) {
	for _, s := range scenarios() {
		if s.name == name {
			return s, nil
		}
	}
	return scenario{}, fmt.Errorf("no scenario %q: use one of the table in docs/background/performance.md, or targets", name)
}
