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

// NewServer returns a server with the timeouts that keep idle peers cheap.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
}

// Run probes and serves until ctx is done or a part fails. The server goes
// last, so that the final counts can still be scraped while the turns in flight
// drain. listen serves with the given server until it is shut down. SIGHUP
// reloads where there is a configuration file.
func (s *Sidecar) Run(ctx context.Context, server *http.Server, listen func() error) error {
	defer s.keepState()()
	var g oklog.Group
	drained := make(chan struct{})
	{
		ctx, cancel := context.WithCancel(ctx)
		g.Add(func() error {
			<-ctx.Done()
			s.logger.Info("Stopping: turns in flight may end, new ones do not start; a second signal ends at once")
			return nil
		}, func(error) { cancel() })
	}
	{
		ctx, cancel := context.WithCancel(context.Background())
		g.Add(func() error {
			defer close(drained)
			return s.scheduler.Run(ctx)
		}, func(error) { cancel() })
	}
	if s.pager != nil {
		ctx, cancel := context.WithCancel(context.Background())
		g.Add(func() error { return s.pager.Run(ctx) }, func(error) {
			<-drained // it sees the last turns
			cancel()
		})
	}
	{
		ctx, cancel := context.WithCancel(context.Background())
		g.Add(func() error { return s.servers.Run(ctx) }, func(error) { cancel() })
	}
	if s.options.ConfigFile != "" {
		ctx, cancel := context.WithCancel(context.Background())
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		g.Add(func() error {
			defer signal.Stop(hangups)
			return s.followSignals(ctx, hangups)
		}, func(error) { cancel() })
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
	if s.pager != nil {
		_ = s.pager.Close() // its error came from Run, if it ran
	}
}
