package sidecar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	oklog "github.com/oklog/run"
)

// Run probes and serves until ctx is done or a part fails. The server goes
// last, so that the final counts can still be scraped while the turns in flight
// drain. listen serves with a server of Server until it is shut down. SIGHUP
// and a changed file reload where there is a configuration file.
func (s *Sidecar) Run(ctx context.Context, server *http.Server, listen func() error) error {
	var g oklog.Group
	drained := make(chan struct{})
	// add runs a part until the group ends; ended is called first.
	add := func(ctx context.Context, run func(context.Context) error, ended func()) {
		ctx, cancel := context.WithCancel(ctx)
		g.Add(func() error { return run(ctx) }, func(error) {
			ended()
			cancel()
		})
	}
	background, atOnce := context.Background(), func() {}
	add(ctx, func(ctx context.Context) error {
		<-ctx.Done()
		s.logger.Info("Stopping: turns in flight may end, new ones do not start; a second signal ends at once")
		return nil
	}, atOnce)
	if s.options.StateFile != "" {
		// Before the parts that wait or may fail: they are ended in this order.
		add(background, s.keepState, atOnce)
		defer s.stateLock.Release()
		defer s.saveState()
	}
	add(background, func(ctx context.Context) error {
		defer close(drained)
		return s.scheduler.Run(ctx)
	}, atOnce)
	if s.turns != nil {
		add(background, s.turns.Run, func() { <-drained }) // it has the last turns
	}
	add(background, s.spans.Run, func() { <-drained }) // it has the last spans
	if s.pager != nil {
		add(background, s.pager.Run, func() { <-drained }) // it sees the last turns
	}
	if s.prometheus != nil {
		began := time.Now() // what comes later this process measures itself
		add(background, func(ctx context.Context) error { return s.readBack(ctx, began) }, atOnce)
	}
	add(background, s.servers.Run, atOnce)
	add(background, s.canaries.run, atOnce)
	add(background, s.models.Run, atOnce)
	add(background, s.discovery.Run, atOnce)
	if s.options.Lag != nil {
		add(background, s.options.Lag.Run, func() { <-drained }) // it explains the last turns
	}
	if s.options.ConfigFile != "" {
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		add(background, func(ctx context.Context) error { return s.followFile(ctx, hangups) }, atOnce)
	}
	g.Add(func() error {
		if err := listen(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving /metrics: %w", err)
		}
		return nil
	}, func(error) {
		<-drained
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // what is still open after that ends with the process
	})
	return g.Run()
}

// Close frees what a sidecar holds that never ran; it does nothing to one that
// did.
func (s *Sidecar) Close() {
	s.stateLock.Release()
	s.turns.Close()
	s.spans.Close()
	if s.pager != nil {
		_ = s.pager.Close() // its error came from Run, if it ran
	}
}
