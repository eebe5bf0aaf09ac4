package probe_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// step is one step of a scripted server: it waits, then writes.
type step struct {
	wait  time.Duration
	write string
}

// scripted is a TCP server that plays the same script for every request and then closes. The test
// provides every byte, including the HTTP headers.
type scripted struct {
	*testing.T
	addr string
	// reset ends connections with RST instead of FIN.
	reset bool
	steps []step
	// hold keeps the connection open after the script until the test ends.
	hold bool

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
	wrote    []time.Time // when each step of the last request was written
}

// play starts the server and stops it at the end of the test.
func play(t *testing.T, s *scripted) *scripted {
	t.Helper()
	s.T = t
	done := make(chan struct{})
	addr, stop := accept(t, func(c net.Conn) { s.serve(c, done) })
	s.addr = addr
	t.Cleanup(func() {
		close(done)
		stop()
	})
	return s
}

func (s *scripted) serve(c net.Conn, done <-chan struct{}) {
	r := bufio.NewReader(c)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	body, _ := io.ReadAll(req.Body)
	s.mu.Lock()
	s.requests, s.bodies, s.wrote = append(s.requests, req), append(s.bodies, string(body)), nil
	s.mu.Unlock()
	for _, step := range s.steps {
		select {
		case <-done:
			return
		case <-time.After(step.wait):
		}
		s.mu.Lock()
		s.wrote = append(s.wrote, time.Now())
		s.mu.Unlock()
		if _, err := io.WriteString(c, step.write); err != nil {
			return
		}
	}
	if s.hold {
		<-done
	}
	if s.reset {
		_ = c.(*net.TCPConn).SetLinger(0)
	}
}

// count returns the number of requests.
func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// request returns the n-th request and its body.
func (s *scripted) request(n int) (*http.Request, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.requests) {
		s.Fatalf("request %d of %d", n, len(s.requests))
	}
	return s.requests[n], s.bodies[n]
}

// stamps returns when the steps of the last request were written.
func (s *scripted) stamps() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.wrote)
}

// web is an HTTP server that records its requests.
type web struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

// newWeb returns a server that answers request n, counted from 0, with a text, and with the headers that say sets.
func newWeb(t *testing.T, say func(n int, h http.Header) string) *web {
	w := &web{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		defer w.mu.Unlock()
		text := say(len(w.requests), to.Header())
		w.requests, w.bodies = append(w.requests, r), append(w.bodies, body)
		_, _ = io.WriteString(to, text)
	}))
	t.Cleanup(w.Close)
	return w
}

// recorder is a Sink that records all events.
type recorder struct {
	mu      sync.Mutex
	started int
	results []probe.Result
}

func (r *recorder) Observe(e probe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case probe.Start:
		r.started++
	case probe.Result:
		r.results = append(r.results, e)
	}
}

// options returns options for an address, with long timeouts.
func options(addr string) probe.Options {
	return probe.Options{
		Target: target.Target{Name: "t", BaseURL: "http://" + addr + "/v1", Model: "m", Connection: target.PerConversation},
		Workload: workload.Spec{
			Name:     "w",
			Timeouts: workload.Timeouts{FirstToken: 20 * time.Second, Stall: 20 * time.Second, Total: 30 * time.Second},
		},
	}
}

// follow runs a planned conversation.
func follow(ctx context.Context, t *testing.T, o probe.Options, plan probe.Plan) ([]probe.Result, probe.Conversation) {
	t.Helper()
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sink := &recorder{}
	sum := p.Converse(ctx, plan, sink)
	if sink.started != len(sink.results) {
		t.Errorf("started %d turns, ended %d", sink.started, len(sink.results))
	}
	return sink.results, sum
}

// plan returns a conversation with a number of turns.
func plan(turns int) probe.Plan {
	c := workload.Conversation{Turns: turns, Opening: []workload.Message{{Role: "user", Content: "Hello there."}}}
	for i := 1; i < turns; i++ {
		c.Followups = append(c.Followups, fmt.Sprintf("question %d", i+1))
	}
	return probe.Plan{Conversation: c, Scheduled: time.Now(), Model: "m"}
}

// converse runs one conversation.
func converse(ctx context.Context, t *testing.T, o probe.Options, turns int) ([]probe.Result, probe.Conversation) {
	t.Helper()
	return follow(ctx, t, o, plan(turns))
}

// once runs a single turn.
func once(t *testing.T, o probe.Options) probe.Result {
	t.Helper()
	results, _ := converse(t.Context(), t, o, 1)
	if len(results) != 1 {
		t.Fatalf("%d results, want 1", len(results))
	}
	return results[0]
}

// Pieces of scripts.
const (
	sseHead   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	closeHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	lastChunk = "0\r\n\r\n"

	role    = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	hello   = `data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}` + "\n\n"
	world   = `data: {"choices":[{"index":0,"delta":{"content":" world"}}]}` + "\n\n"
	finish  = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	aborted = `data: {"choices":[{"delta":{},"finish_reason":"abort"}]}` + "\n\n"
	usage   = `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}}` + "\n\n"
	done    = "data: [DONE]\n\n"
)

// chunk frames a text as one HTTP chunk.
func chunk(s ...string) string {
	all := strings.Join(s, "")
	return fmt.Sprintf("%x\r\n%s\r\n", len(all), all)
}

// jsonResponse returns a response with a JSON body.
func jsonResponse(status, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}
