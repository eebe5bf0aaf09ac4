package probe_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
)

// neighbourEnv names the dialect that the test binary serves instead of running tests.
const neighbourEnv = "PROBE_TEST_NEIGHBOUR"

// neighbours returns the targets of one process: one that answers after 20 ms, and some that send
// the most expensive data as fast as they can.
func neighbours() []dialect {
	return []dialect{
		{name: "good", speak: func(p *peer) {
			time.Sleep(20 * time.Millisecond) // the time of the first token
			p.say(closeHead + answer)
		}},
		{name: "comments", speak: repeats(closeHead, ": ping\n\n")},
		{name: "empty lines", speak: repeats(closeHead, "\n")},
		{name: "chunks of a byte with extensions", speak: repeats(sseHead, "1;x=y\r\n\n\r\n")},
		{name: "role events", speak: repeats(closeHead, role)},
		{name: "gzip", speak: func(p *peer) { p.say(gzipHead + bomb("\n\n\n\n", 8<<20)) }},
		{name: "segments of a byte", speak: func(p *peer) {
			for p.say(closeHead); p.say("\n"); {
			}
		}},
	}
}

// asNeighbour serves until its input ends, if neighbourEnv is set.
func asNeighbour() {
	flag := os.Getenv(neighbourEnv)
	all := neighbours()
	i := slices.IndexFunc(all, func(d dialect) bool { return d.name == flag })
	if i < 0 {
		return
	}
	var wrote atomic.Int64
	addr, _ := listen(&testing.T{}, all[i], &wrote)
	fmt.Println(addr)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// neighbour starts a server in its own process, so that its CPU time is not counted.
func neighbour(b *testing.B, name string) (addr string) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), neighbourEnv+"="+name)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// chat runs one turn.
func chat(ctx context.Context, b *testing.B, p *probe.Prober) probe.Result {
	sink := &recorder{}
	c := workload.Conversation{Turns: 1, Opening: []workload.Message{{Role: "user", Content: "Hello there."}}}
	p.Converse(ctx, probe.Plan{Conversation: c, Scheduled: time.Now(), Model: "m"}, sink)
	if len(sink.results) != 1 {
		b.Fatalf("%d results", len(sink.results))
	}
	return sink.results[0]
}

func proberOf(b *testing.B, addr string, pacer *wire.Pacer) *probe.Prober {
	b.Helper()
	o := options(addr)
	o.Pacer = pacer
	p, err := probe.New(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	return p
}

// BenchmarkIsolation measures how a hostile target with eight conversations changes the TTFT of a
// good target in the same process, with and without pacing. Run it on one core: -cpu 1 or
// GOMAXPROCS=1.
func BenchmarkIsolation(b *testing.B) {
	b.Run("alone", func(b *testing.B) { isolate(b, "", nil) })
	for _, d := range neighbours()[1:] {
		b.Run(d.name+"/paced", func(b *testing.B) { isolate(b, d.name, &wire.Pacer{}) })
		b.Run(d.name+"/not paced", func(b *testing.B) { isolate(b, d.name, nil) })
	}
}

func isolate(b *testing.B, hostile string, pacer *wire.Pacer) {
	ctx, cancel := context.WithCancel(b.Context())
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	good := proberOf(b, neighbour(b, "good"), &wire.Pacer{})
	if hostile != "" {
		bad := proberOf(b, neighbour(b, hostile), pacer)
		for range 8 {
			background.Go(func() {
				for ctx.Err() == nil {
					chat(ctx, b, bad)
				}
			})
		}
		time.Sleep(2 * time.Second) // until the burst of the pacer is used
	}
	var ttft []time.Duration
	for b.Loop() {
		if r := chat(ctx, b, good); r.Outcome == probe.Success {
			ttft = append(ttft, r.TTFT.V)
		} else {
			b.Errorf("the neighbour's turn ended as %s (%s)", r.Outcome, r.Err)
		}
	}
	slices.Sort(ttft)
	b.ReportMetric(float64(ttft[len(ttft)/2].Microseconds())/1e3, "p50-ms")
	b.ReportMetric(float64(ttft[len(ttft)*99/100].Microseconds())/1e3, "p99-ms")
}
