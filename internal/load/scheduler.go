package load

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// Prober sends the conversations of one job. Its methods can be called concurrently.
type Prober interface {
	// Model asks the deployment for its model name.
	Model(ctx context.Context) (string, error)
	// Converse runs a conversation and reports each turn to sink. After plan.Stop is closed it
	// starts no further turn; when ctx is done it cuts the turn in flight.
	Converse(ctx context.Context, plan probe.Plan, sink probe.Sink) probe.Conversation
	// Close is called when no conversation is in flight.
	Close()
}

// Options configure a Scheduler. Sink and NewProber are required.
type Options struct {
	Sink      probe.Sink
	NewProber func(probe.Job) (Prober, error)
	// Sign returns the state of a job on which adaptive traffic depends. nil means no adaptive
	// traffic.
	Sign func(job probe.Key) workload.Sign
	// OnRemoved is called when the last conversation of a removed job has ended, so that its
	// series can be deleted. It must not block and must not call the Scheduler.
	OnRemoved func(job probe.Key)
	// Memory limits the bytes of all conversations in flight; nil means no limit.
	Memory *bound.Budget
	Logger *slog.Logger
	// Replica distinguishes processes with the same configuration, for example by pod name. Its
	// hash spreads them over time.
	Replica string
	// DrainTimeout is how long turns in flight may continue after Run's context is done. Then
	// they are cut and count as canceled.
	DrainTimeout time.Duration
}

// Scheduler runs the loops of the jobs. Its methods can be called concurrently.
type Scheduler struct {
	opts Options
	// turnsCtx ends when turns in flight are cut.
	turnsCtx context.Context
	cutTurns context.CancelFunc
	// loops waits for the goroutines of all runners.
	loops sync.WaitGroup
	// wanted holds the runners of the current jobs. Writers hold mu and replace the whole map.
	// Healthy and LastBeat read it without mu, so that they answer while a stuck job holds mu.
	wanted atomic.Pointer[map[probe.Key]*runner]
	phase  atomic.Int32

	mu sync.Mutex
	// draining counts the stopped runners of a key that have not ended yet.
	draining map[probe.Key]int
	// made numbers the runners. It is part of conversation IDs, so that they differ after a job
	// has changed.
	made int
}

// Phases of a Scheduler.
const (
	idle int32 = iota
	running
	stopping
)

// New returns a Scheduler without jobs.
func New(opts Options) *Scheduler {
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.Sign == nil {
		opts.Sign = func(probe.Key) workload.Sign { return workload.Sign{} }
	}
	s := &Scheduler{opts: opts, draining: map[probe.Key]int{}}
	s.turnsCtx, s.cutTurns = context.WithCancel(context.Background())
	s.wanted.Store(&map[probe.Key]*runner{})
	return s
}

// Run runs the loops until ctx is done. Then it starts nothing more, gives turns in flight
// DrainTimeout to finish, cuts the rest, and returns when all goroutines have ended. A second
// call returns an error.
func (s *Scheduler) Run(ctx context.Context) error {
	if !s.enterPhase(idle, running, s.start) {
		return errors.New("the scheduler has already run; create a new one")
	}
	<-ctx.Done()
	s.enterPhase(running, stopping, func(r *runner) { r.stopStarts() })
	drainTimer := time.AfterFunc(s.opts.DrainTimeout, func() {
		if s.opts.DrainTimeout > 0 { // a timeout of 0 asks for the cut
			s.opts.Logger.Warn("Cutting the turns still in flight", "after", s.opts.DrainTimeout)
		}
		s.cutTurns()
	})
	s.loops.Wait()
	drainTimer.Stop()
	s.cutTurns()
	return nil
}

// enterPhase changes the phase and calls each for every runner. It returns false if the phase
// was not from.
func (s *Scheduler) enterPhase(from, to int32, each func(*runner)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.phase.CompareAndSwap(from, to) {
		return false
	}
	for _, r := range *s.wanted.Load() {
		each(r)
	}
	return true
}

// start starts the goroutine of a runner. The caller holds mu.
func (s *Scheduler) start(r *runner) {
	r.heart.beat()
	s.loops.Go(func() {
		r.run()
		s.finished(r)
	})
}
