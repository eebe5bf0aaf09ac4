//go:build unix

package probe_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/wire"
)

// readStream reads a stream to its end and passes each token's content and arrival time to told.
type readStream func(ctx context.Context, url string, told func(content []byte, at time.Time)) error

// BenchmarkPath measures the reading of events that contain their sending time: the CPU time per
// event, the delay of its timestamp, and the memory of a stream. The same is measured for a minimal
// reader made from the standard library.
func BenchmarkPath(b *testing.B) {
	for _, load := range []struct {
		streams int
		rate    string
	}{{1000, "20/s"}, {4000, "1/s"}} {
		at := fmt.Sprintf("%d x %s ", load.streams, load.rate)
		b.Run(at+"nethttp", func(b *testing.B) { follow(b, "http://"+neighbour(b, load.rate), load.streams, leastRead()) })
		b.Run(at+"stream", func(b *testing.B) { follow(b, "http://"+neighbour(b, load.rate), load.streams, pathRead()) })
	}
}

// follow reads streams until b.N events have come after the first one of each.
func follow(b *testing.B, url string, streams int, read readStream) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	before := inUse()
	var up, all sync.WaitGroup
	var counting atomic.Bool
	var noted atomic.Int64
	late := make([][]float64, streams) // in µs
	for i := range streams {
		up.Add(1)
		begun := sync.OnceFunc(up.Done)
		all.Go(func() {
			defer begun()
			err := read(ctx, url, func(content []byte, at time.Time) {
				begun()
				if !counting.Load() {
					return
				}
				sent, _ := strconv.ParseInt(string(content), 10, 64) // an invalid number is decades late
				late[i] = append(late[i], float64(at.UnixNano()-sent)/1e3)
				if noted.Add(1) == int64(b.N) {
					cancel()
				}
			})
			if ctx.Err() == nil {
				b.Errorf("stream %d ended early: %v", i, err)
				cancel()
			}
		})
	}
	up.Wait()
	held := inUse() - before
	began := cpuTime(b)
	counting.Store(true)
	b.ResetTimer()
	<-ctx.Done()
	b.StopTimer()
	took := cpuTime(b) - began
	all.Wait()
	times := slices.Concat(late...)
	if len(times) == 0 {
		return // a stream ended before an event was counted
	}
	slices.Sort(times)
	b.ReportMetric(float64(took.Nanoseconds())/1e3/float64(len(times)), "cpu-µs/event")
	b.ReportMetric(times[len(times)/2], "late-p50-µs")
	b.ReportMetric(times[len(times)*99/100], "late-p99-µs")
	b.ReportMetric(held/1000/float64(streams), "kB/stream")
}

// inUse returns the bytes of heap and stacks in use.
func inUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse + m.StackInuse)
}

func post(ctx context.Context, by http.RoundTripper, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		return nil, err
	}
	return by.RoundTrip(r)
}

// leastRead is the minimal reader: it reads, takes the time and searches for the content.
func leastRead() readStream {
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	return func(ctx context.Context, url string, told func([]byte, time.Time)) error {
		resp, err := post(ctx, transport, url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		buf := make([]byte, 4<<10)
		used := 0
		for {
			n, err := resp.Body.Read(buf[used:])
			at := time.Now()
			used = events(buf, used+n, func(content []byte) { told(content, at) })
			if err != nil {
				return err
			}
		}
	}
}

// events calls f with the content of each event in buf[:n], and moves the incomplete rest to the
// front.
func events(buf []byte, n int, f func(content []byte)) int {
	rest := buf[:n]
	for {
		event, after, whole := bytes.Cut(rest, []byte("\n\n"))
		if !whole {
			return copy(buf, rest)
		}
		if _, content, ok := bytes.Cut(event, []byte(`"content":"`)); ok {
			content, _, _ = bytes.Cut(content, []byte(`"`))
			f(content)
		}
		rest = after
	}
}

// pathRead reads a stream as the prober does.
func pathRead() readStream {
	client := wire.New(wire.Options{})
	return func(ctx context.Context, url string, told func([]byte, time.Time)) error {
		resp, err := post(ctx, client, url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		reader := stream.NewReader(resp.Body.(*wire.Body), stream.Options{})
		for {
			event, err := reader.Next()
			if err != nil {
				return err
			}
			if event.Kind == stream.Token {
				told(event.Content, event.At)
			}
		}
	}
}
