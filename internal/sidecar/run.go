package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	oklog "github.com/oklog/run"
)

// parts runs the parts of a sidecar until one of them ends. Then it ends them in the order in
// which they were added.
type parts struct {
	oklog.Group
	drained chan struct{} // closed when the last turn has ended

	mu      sync.Mutex
	running []string // names of the parts that have not ended
}

// add adds a part that ends at once.
func (p *parts) add(name string, run func(context.Context) error) { p.addPart(name, run, func() {}) }

// addLasting adds a part that ends after the last turn.
func (p *parts) addLasting(name string, run func(context.Context) error) {
	p.addPart(name, run, func() { <-p.drained })
}

func (p *parts) addPart(name string, run func(context.Context) error, wait func()) {
	ctx, cancel := context.WithCancel(context.Background())
	p.running = append(p.running, name)
	p.Add(func() error {
		defer p.ended(name)
		return run(ctx)
	}, func(error) {
		wait()
		cancel()
	})
}

func (p *parts) ended(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = slices.DeleteFunc(p.running, func(n string) bool { return n == name })
}

// A write to a volume that does not answer cannot be canceled, so it may last longer than the turns in flight.
// Run waits endNotice for it and logs what it waits for; pods of the Helm chart are killed later than that. After
// a further endLimit Run returns without it.
const (
	endNotice = 4 * time.Second
	endLimit  = 30 * time.Second
)

// runWithin runs the parts. It returns a hangingError if some of them do not end in time after ending is closed.
func (p *parts) runWithin(drain time.Duration, ending <-chan struct{}, logger *slog.Logger) error {
	all := make(chan error, 1)
	go func() { all <- p.Run() }()
	select {
	case err := <-all:
		return err
	case <-ending:
	}
	select {
	case err := <-all:
		return err
	case <-time.After(drain + endNotice):
		logger.Error("Parts of the process do not end: check that the volumes of their files answer", "parts", p.left(), "ends_without_them_in", endLimit)
	}
	select {
	case err := <-all:
		return err
	case <-time.After(endLimit):
		return &hangingError{p.left()}
	}
}

// left describes the parts that have not ended.
func (p *parts) left() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.running, ", ")
}

// hangingError means that Run left parts behind.
type hangingError struct{ parts string }

func (e *hangingError) Error() string {
	return fmt.Sprintf("the process ends without parts of it that hang, so what they had to save is lost: %s; check that the volumes of their files answer", e.parts)
}

// Run probes and serves until ctx is done or a part fails. The server stops last, so that the
// final counts can be scraped while the turns in flight end. listen must serve with the server
// until it is shut down. With a configuration file, Hangups and changes of the file reload it.
func (s *Sidecar) Run(ctx context.Context, server *http.Server, listen func() error) error {
	p, ending := &parts{drained: make(chan struct{})}, make(chan struct{})
	p.add("signals", func(ended context.Context) error {
		defer close(ending)
		select {
		case <-ctx.Done():
		case <-ended.Done():
		}
		s.options.Logger.Info("Stopping: turns in flight may end, new ones do not start; a second signal ends at once")
		return nil
	})
	if s.state.file != "" {
		// It saves the state before the parts that wait or may fail.
		p.add("the state file "+s.state.file, func(ctx context.Context) error { return s.state.keep(ctx, p.drained) })
	}
	p.add("the turns in flight", func(ctx context.Context) error {
		defer close(p.drained)
		return s.scheduler.Run(ctx)
	})
	s.addParts(p)
	if s.options.ConfigFile != "" {
		p.add("reloads", func(ctx context.Context) error { return s.followFile(ctx, s.options.Hangups) })
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
	err := p.runWithin(s.options.DrainTimeout, ending, s.options.Logger)
	_, s.hanging = errors.AsType[*hangingError](err)
	return err
}

// addParts adds the parts that may end in any order.
func (s *Sidecar) addParts(p *parts) {
	if s.turns != nil {
		p.addLasting("the turn log "+s.options.TurnsFile, s.turns.Run)
	}
	p.addLasting("spans", s.spans.Run)
	if s.pager.Pager != nil {
		p.addLasting("the pager", s.pager.Run)
	}
	p.add("metrics of servers", s.servers.Run)
	p.add("discovery", func(ctx context.Context) error { return s.discovery.Run(ctx, s.targetsChanged) })
	p.addLasting("lag", s.options.Lag.Run)
}

// Close releases what a sidecar holds, unless a part of it hangs. The kernel releases that when the process ends.
func (s *Sidecar) Close() {
	if s.hanging {
		return
	}
	s.state.lock.Release()
	s.turns.Close()
	s.spans.Close()
	if s.pager.Pager != nil {
		_ = s.pager.Close() // Run has returned its error
	}
}
