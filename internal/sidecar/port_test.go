package sidecar_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
)

// crowd sends requests to a sidecar with many targets, over connections in memory.
type crowd struct {
	t     testing.TB
	pipes *simulate.Pipes
}

func newCrowd(t testing.TB, targets int) *crowd {
	t.Helper()
	var text strings.Builder
	text.WriteString("targets:\n")
	for i := range targets {
		fmt.Fprintf(&text, "  - {name: target-%d, base_url: \"http://deployment-%d.example.com:8000\"}\n", i, i)
	}
	cfg, err := config.Parse("synthetic.yml", []byte(text.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sidecar.New(sidecar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	c := &crowd{t, simulate.NewPipes()}
	server, done := s.Server(), make(chan error, 1)
	go func() { done <- server.Serve(c.pipes) }()
	t.Cleanup(func() {
		server.Close()
		<-done
		s.Close()
	})
	return c
}

// ask sends a request over a new connection and returns the status and the size of the answer; 0 if
// the connection was refused.
func (c *crowd) ask(path string, buffer []byte) (status, size int) {
	conn, err := c.pipes.Dial(c.t.Context(), "", "")
	if err != nil {
		return 0, 0
	}
	defer conn.Close()
	return request(conn, path, buffer)
}

func request(conn net.Conn, path string, buffer []byte) (status, size int) {
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
		return 0, 0
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return 0, 0
	}
	defer resp.Body.Close()
	for {
		n, err := resp.Body.Read(buffer)
		if size += n; err != nil {
			return resp.StatusCode, size
		}
	}
}

// rush sends requests over many connections at once, and counts the answers by status.
func (c *crowd) rush(connections int, path string) (answers map[int]int, largest int) {
	counts, most := [600]atomic.Int64{}, atomic.Int64{}
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			status, size := c.ask(path, make([]byte, 1024))
			counts[status].Add(1)
			if status == http.StatusOK {
				most.Store(int64(size))
			}
		})
	}
	all.Wait()
	answers = map[int]int{}
	for status := range counts {
		if n := counts[status].Load(); n > 0 {
			answers[status] = int(n)
		}
	}
	return answers, int(most.Load())
}

// TestACrowdCostsLittle: a thousand concurrent requests cost no more than a
// few answers.
func TestACrowdCostsLittle(t *testing.T) {
	c := newCrowd(t, 60)
	for path, tc := range map[string]struct{ atLeast, most int }{
		"/":        {1 << 10, 512 << 20},   // rendered one after the other
		"/metrics": {900 << 10, 256 << 20}, // a page of about 1 MB: one is rendered each second, not a thousand
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answers, size := c.rush(1000, path)
		runtime.ReadMemStats(&after)
		t.Logf("%s: %v, %d bytes, %d MiB allocated", path, answers, size, (after.TotalAlloc-before.TotalAlloc)>>20)
		if answers[http.StatusOK] == 0 || size < tc.atLeast {
			t.Errorf("%s: answers %v of %d bytes", path, answers, size)
		}
		if others := 1000 - answers[http.StatusOK] - answers[http.StatusServiceUnavailable] - answers[0]; others != 0 {
			t.Errorf("%s: answers %v", path, answers)
		}
		if cost := after.TotalAlloc - before.TotalAlloc; cost > uint64(tc.most) {
			t.Errorf("%s: %d MiB were allocated", path, cost>>20)
		}
	}
	if status, _ := c.ask("/metrics", make([]byte, 1024)); status != http.StatusOK {
		t.Errorf("after the crowd: %d", status)
	}
}
