//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/metrics"
	"time"

	"synthetic/internal/probe/wire"
)

// memoryTime is the CPU time of one run in memory, memoryTurns the number of turns that a reader reads in a row.
const memoryTime, memoryTurns = 2 * time.Second, 20

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

// readMemory reads the same turn with both readers in turn, and prints the costs of an event. A slow moment of the machine
// concerns both.
func readMemory() error {
	event := []byte(before + after)
	turn := bytes.Repeat(event, inMemory.tokens)
	var costs [2]cost
	var used [2]time.Duration
	turns := 0
	for ; used[0]+used[1] < memoryTime; turns += memoryTurns {
		for i, read := range []readTurn{plain, path} {
			objects := allocated()
			began, err := cpuTime(0)
			if err != nil {
				return err
			}
			for range memoryTurns {
				if _, err := read(&memory{event, turn}, func(time.Time) {}); err != nil {
					return err
				}
			}
			ended, err := cpuTime(0)
			if err != nil {
				return err
			}
			used[i] += ended - began
			costs[i].Allocations += float64(allocated() - objects)
		}
	}
	for i := range costs {
		tokens := float64(turns * inMemory.tokens)
		costs[i].PerToken = float64(used[i].Nanoseconds()) / 1e3 / tokens
		costs[i].Allocations /= tokens
	}
	return json.NewEncoder(os.Stdout).Encode(costs)
}

// allocated returns how many objects this process has allocated.
func allocated() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

// memoryRounds measures the first two kinds of clients, whose readers these are.
func (f flags) memoryRounds(ctx context.Context, kinds []client, r results) error {
	for round := range f.runs {
		p, err := start(exec.Command("/proc/self/exe", "-as", "memory", "-scenario", inMemory.name), f.client)
		if err != nil {
			return err
		}
		out, err := p.wait(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", inMemory.name, err)
		}
		var both [2]cost
		if err := json.Unmarshal(out, &both); err != nil {
			return err
		}
		for i, x := range both {
			fmt.Fprintf(os.Stderr, "%s, run %d, %s: %.3f µs/token, %.3f allocations\n",
				inMemory.name, round+1, kinds[i].name, x.PerToken, x.Allocations)
			r.add(inMemory, kinds[i], x)
		}
	}
	return nil
}
