package simulate

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"synthetic/internal/simulate/cluster"
)

// benchServer is the environment variable that makes the test binary the server of BenchmarkServe.
const benchServer = "SIMULATE_BENCH_SERVER"

// serveForBench serves a deployment that is faster than any client can read, until standard input
// ends. Answers come from a cluster, with batch, queue and cache.
func serveForBench() {
	c, err := cluster.Preset("phase0")
	if err != nil {
		panic(err)
	}
	c.Engine.MaxSeqs = 256
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := &http.Server{Handler: New(Options{Cluster: &c, Speed: 50})}
	go func() { _ = s.Serve(l) }()
	os.Stdout.WriteString(l.Addr().String() + "\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = s.Close()
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	cpu := time.Duration(use.Utime.Nano() + use.Stime.Nano())
	os.Stdout.WriteString(strconv.FormatInt(int64(cpu), 10) + "\n")
}

// BenchmarkServe measures how many events per second a server sends to clients in this process over
// TCP. Each has one core of a machine with two. cpu-µs/event is that of the server only.
func BenchmarkServe(b *testing.B) {
	for _, streams := range []int{16, 64, 256} {
		b.Run(strconv.Itoa(streams), func(b *testing.B) { benchServe(b, streams) })
	}
}

func benchServe(b *testing.B, streams int) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), benchServer+"=1", "GOMAXPROCS=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	addr, err := out.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.ResetTimer()
	began := time.Now()
	events := readEvents(b, "http://"+strings.TrimSpace(addr), streams, b.N)
	duration := time.Since(began)
	b.StopTimer()
	_ = in.Close()
	cpu, err := out.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	nanos, err := strconv.ParseFloat(strings.TrimSpace(cpu), 64)
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(events)/duration.Seconds(), "events/s")
	b.ReportMetric(nanos/1000/float64(events), "cpu-µs/event")
}

// readEvents lets clients read streams until they have read a number of events.
func readEvents(b *testing.B, url string, streams, want int) int64 {
	transport := &http.Transport{MaxIdleConnsPerHost: streams}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}
	body := question + `,"ignore_eos":true,"max_tokens":1000}`
	var events atomic.Int64
	var wg sync.WaitGroup
	for range streams {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for events.Load() < int64(want) {
				resp, err := c.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				for {
					n, err := resp.Body.Read(buf)
					events.Add(int64(bytes.Count(buf[:n], []byte("data: "))))
					if err != nil || events.Load() >= int64(want) {
						break
					}
				}
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
	return events.Load()
}

// BenchmarkLoad measures how much faster than real time a cluster with a load and metrics runs.
func BenchmarkLoad(b *testing.B) {
	for _, concurrency := range []int{40, 60, 160} {
		b.Run(strconv.Itoa(concurrency), func(b *testing.B) {
			c, err := cluster.Preset("trtllm-kv")
			if err != nil {
				b.Fatal(err)
			}
			o := Options{Cluster: &c, Load: Load{Concurrency: concurrency}}.withDefaults()
			d := o.start(c, time.Now())
			d.cluster.Advance(2*time.Minute, d.handle)
			b.ResetTimer()
			for range b.N {
				d.cluster.Advance(d.cluster.Now()+time.Second, d.handle)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "x-real-time")
		})
	}
}
