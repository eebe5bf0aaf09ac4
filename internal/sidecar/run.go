package sidecar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	oklog "github.com/oklog/run"
)

// parts runs the parts of a sidecar until one of them ends. Then it ends them in the order in
// which they were added.
type parts struct {
	oklog.Group
	drained chan struct{} // closed when the last turn has ended
}

// add adds a part that ends at once.
func (p *parts) add(run func(context.Context) error) { p.addPart(run, func() {}) }

// addLasting adds a part that ends after the last turn.
func (p *parts) addLasting(run func(context.Context) error) {
	p.addPart(run, func() { <-p.drained })
}

func (p *parts) addPart(run func(context.Context) error, wait func()) {
	ctx, cancel := context.WithCancel(context.Background())
	p.Add(func() error { return run(ctx) }, func(error) {
		wait()
		cancel()
	})
}

// Run probes and serves until ctx is done or a part fails. The server stops last, so that the
// final counts can be scraped while the turns in flight end. listen must serve with the server
// until it is shut down. With a configuration file, Hangups and changes of the file reload it.
func (s *Sidecar) Run(ctx context.Context, server *http.Server, listen func() error) error {
	p := &parts{drained: make(chan struct{})}
	p.add(func(ended context.Context) error {
		select {
		case <-ctx.Done():
		case <-ended.Done():
		}
		s.options.Logger.Info("Stopping: turns in flight may end, new ones do not start; a second signal ends at once")
		return nil
	})
	if s.state.file != "" {
		// It saves the state before the parts that wait or may fail.
		p.add(func(ctx context.Context) error { return s.state.keep(ctx, p.drained) })
	}
	p.add(func(ctx context.Context) error {
		defer close(p.drained)
		return s.scheduler.Run(ctx)
	})
	s.addParts(p)
	if s.options.ConfigFile != "" {
		p.add(func(ctx context.Context) error { return s.followFile(ctx, s.options.Hangups) })
	}
	p.Add(func() error {
		if err := listen(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving /metrics: %w", err)
		}
		return nil
	}, func(error) {
		<-p.drained
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // connections that are still open end with the process
	})
	return p.Run()
}

// addParts adds the parts that may end in any order.
func (s *Sidecar) addParts(p *parts) {
	if s.turns != nil {
		p.addLasting(s.turns.Run)
	}
	p.addLasting(s.spans.Run)
	if s.pager.Pager != nil {
		p.addLasting(s.pager.Run)
	}
	p.add(s.servers.Run)
	p.add(func(ctx context.Context) error { return s.discovery.Run(ctx, s.targetsChanged) })
	p.addLasting(s.options.Lag.Run)
}

// Close releases what a sidecar holds.
func (s *Sidecar) Close() {
	s.state.lock.Release()
	s.turns.Close()
	s.spans.Close()
	if s.pager.Pager != nil {
		_ = s.pager.Close() // Run has returned its error
	}
}
