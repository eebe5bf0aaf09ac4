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

// Run probes and serves until ctx is done or a part fails. The server stops last, so that the
// final counts can be scraped while the turns in flight end. listen must serve with the server
// until it is shut down. With a configuration file, SIGHUP and changes of the file reload it.
func (s *Sidecar) Run(ctx context.Context, server *http.Server, listen func() error) error {
	var g oklog.Group
	drained := make(chan struct{})
	// add runs a part until the group ends, and calls ended before it cancels the part.
	add := func(ctx context.Context, run func(context.Context) error, ended func()) {
		ctx, cancel := context.WithCancel(ctx)
		g.Add(func() error { return run(ctx) }, func(error) {
			ended()
			cancel()
		})
	}
	background, immediately := context.Background(), func() {}
	add(ctx, func(ctx context.Context) error {
		<-ctx.Done()
		s.logger.Info("Stopping: turns in flight may end, new ones do not start; a second signal ends at once")
		return nil
	}, immediately)
	if s.options.StateFile != "" {
		// The state is saved before the parts that wait or may fail: the group ends them in
		// this order.
		add(background, s.keepState, immediately)
		defer s.stateLock.Release()
		defer s.saveState()
	}
	add(background, func(ctx context.Context) error {
		defer close(drained)
		return s.scheduler.Run(ctx)
	}, immediately)
	if s.turns != nil {
		add(background, s.turns.Run, func() { <-drained }) // the log gets the last turns
	}
	add(background, s.spans.Run, func() { <-drained }) // the export gets the last spans
	if s.pager != nil {
		add(background, s.pager.Run, func() { <-drained }) // the pager sees the last turns
	}
	if s.prometheus != nil {
		began := time.Now() // this process measures what comes later
		add(background, func(ctx context.Context) error { return s.readBack(ctx, began) }, immediately)
	}
	add(background, s.servers.Run, immediately)
	add(background, s.canaries.run, immediately)
	add(background, s.models.Run, immediately)
	add(background, s.discovery.Run, immediately)
	if s.options.Lag != nil {
		add(background, s.options.Lag.Run, func() { <-drained }) // it explains the last turns
	}
	if s.options.ConfigFile != "" {
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		add(background, func(ctx context.Context) error { return s.followFile(ctx, hangups) }, immediately)
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
		_ = server.Shutdown(ctx) // connections that are still open end with the process
	})
	return g.Run()
}

// Close releases what a sidecar holds that never ran. After Run it does nothing.
func (s *Sidecar) Close() {
	s.stateLock.Release()
	s.turns.Close()
	s.spans.Close()
	if s.pager != nil {
		_ = s.pager.Close() // Run has returned its error
	}
}
