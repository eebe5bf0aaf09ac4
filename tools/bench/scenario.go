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
	// goal is as client.goal, for a scenario that has one for all clients.
	goal float64
}

func scenarios() []scenario {
	return []scenario{
		inMemory,
		{name: "1000 x 20/s", streams: 1000, gap: 50 * time.Millisecond, tokens: 100},
		{name: "1000 x 50/s", streams: 1000, gap: 20 * time.Millisecond, tokens: 250},
		{name: "4000 x 15/s", streams: 4000, gap: time.Second / 15, tokens: 75},
		{name: "bursts of 256", streams: 256, gap: 50 * time.Millisecond, tokens: 100, together: true},
		{name: "5000 x 1/s", streams: 5000, gap: time.Second, tokens: 10},
		{name: "1000 x 20/s varied", streams: 1000, gap: 50 * time.Millisecond, tokens: 100, varied: true},
		{name: "1000 x 20/s unpinned", streams: 1000, gap: 50 * time.Millisecond, tokens: 100, unpinned: true},
		installations,
	}
}

// perTarget is how many of the streams "synthetic run" has with one target. With more, run would read later, to limit the
// CPU time that one target costs.
func (s scenario) perTarget() int {
	n := min(s.streams, 32)
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
