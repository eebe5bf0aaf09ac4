package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/promtest"
)

// pipes is a listener whose connections are in memory, so that a deployment
// and the sidecar can run in virtual time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	slow  atomic.Int64 // how long each connection takes, in nanoseconds
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case <-time.After(time.Duration(p.slow.Load())):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: io.ErrClosedPipe}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// scrape is what the sidecar exposed at a time.
type scrape struct {
	at      time.Time
	samples []promtest.Sample
}

// act is something that happens to the deployment at a time after the start.
type act struct {
	after time.Duration
	do    func(*simulate.Deployment, *pipes)
}

const scrapeEvery = 15 * time.Second

// play runs deployment and sidecar in virtual time, scrapes every 15 s, and
// returns what was scraped. It must be called within a synctest bubble.
func play(t *testing.T, cfg *config.Config, o simulate.Options, length time.Duration, acts ...act) []scrape {
	t.Helper()
	d, wire := simulate.New(o), newPipes()
	server := newServer(d)
	served := make(chan error, 1)
	go func() { served <- server.Serve(wire) }()
	s, err := newSidecar(sidecarOptions{logger: slog.New(slog.DiscardHandler), drainTimeout: time.Second, dial: wire.dial})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.apply(cfg); err != nil {
		t.Fatal(err)
	}
	s.recorder.SetReload(true, time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 2)
	go func() { ran <- s.scheduler.Run(ctx) }()
	go func() { ran <- s.servers.Run(ctx) }()

	begin := time.Now()
	var out []scrape
	for elapsed := time.Duration(0); elapsed < length; elapsed += scrapeEvery {
		for len(acts) > 0 && acts[0].after <= elapsed {
			acts[0].do(d, wire)
			acts = acts[1:]
		}
		time.Sleep(time.Until(begin.Add(elapsed + scrapeEvery)))
		out = append(out, scrape{time.Now(), s.samples(t)})
	}
	cancel()
	for range cap(ran) {
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}
	_ = server.Close()
	<-served
	return out
}

// samples gathers what the rules read.
func (s *sidecar) samples(t *testing.T) []promtest.Sample {
	families, err := s.recorder.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return promtest.Flatten(families, func(name string) bool { return strings.HasPrefix(name, "synthetic_") })
}
