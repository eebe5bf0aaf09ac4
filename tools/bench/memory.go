//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"synthetic/internal/probe/wire"
)

// memoryTime is the CPU time of one run in memory.
const memoryTime = 2 * time.Second

// inMemory is a scenario without connections: the events come from memory. It shows a change of the parser. In the other
// scenarios the kernel takes most of the time.
var inMemory = scenario{name: "in memory", tokens: 1000, goal: 1.42}

// memory is a body in memory. Each read returns one event.
type memory struct{ event, rest []byte }

func (m *memory) Read(p []byte) (int, error) {
	if len(m.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.rest[:min(len(m.event), len(m.rest))])
	m.rest = m.rest[n:]
	return n, nil
}

func (m *memory) Arrival() wire.Arrival {
	now := time.Now()
	return wire.Arrival{At: now, Seen: now}
}

// readMemory reads the same turn again and again, and prints the cost of an event.
func readMemory(read readTurn) error {
	event := fmt.Appendf(nil, "%s%0*d\"%s", before, stampDigits, 0, after)
	turn := []byte(strings.Repeat(string(event), inMemory.tokens))
	first, err := cpuTime(0)
	used, events := time.Duration(0), 0
	for used < memoryTime && err == nil {
		if err = read(&memory{event, turn}, func([]byte, time.Time) { events++ }); err == nil {
			used, err = cpuTime(0)
			used -= first
		}
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(cost{PerToken: float64(used.Nanoseconds()) / 1e3 / float64(events)})
}

// memoryRounds runs the readers of the clients that have one, once in each round.
func (f flags) memoryRounds(ctx context.Context, kinds []client, r results) error {
	for round := range f.runs {
		for _, c := range kinds {
			if c.reader == "" {
				continue
			}
			p, err := start(exec.Command("/proc/self/exe", "-as", c.reader, "-scenario", inMemory.name), f.client)
			if err != nil {
				return err
			}
			out, err := p.wait(ctx)
			if err != nil {
				return fmt.Errorf("%s %s: %w", c.name, inMemory.name, err)
			}
			var x cost
			if err := json.Unmarshal(out, &x); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s, run %d, %s: %.3f µs/token\n", inMemory.name, round+1, c.name, x.PerToken)
			r.add(inMemory, c, x)
		}
	}
	return nil
}
