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

// Prober holds conversations with the deployment of one job. Its methods are
// called from many goroutines at once.
type Prober interface {
	// Model asks the deployment for the name of its model.
	Model(ctx context.Context) (string, error)
	// Converse takes a conversation's turns one after the other, reports each
	// to the sink and returns the whole. A closed plan.Stop lets the turn in
	// flight finish and starts no other; a done ctx cuts the turn in flight.
	Converse(ctx context.Context, plan probe.Plan, sink probe.Sink) probe.Conversation
	// Close frees what the prober holds; no conversation is in flight then.
	Close()
}

// Options are what a Scheduler needs. Sink and NewProber are required.
type Options struct {
	Sink probe.Sink
	// NewProber makes the prober of a job.
	NewProber func(probe.Job) (Prober, error)
	// Sign is what was seen of a job, for traffic that answers to it; nil means
	// nothing.
	Sign func(job probe.Key) workload.Sign
	// OnRemoved is called once the last conversation of a job that is no
	// longer wanted is over, so that its series can go. It must not block nor
	// call the Scheduler.
	OnRemoved func(job probe.Key)
	// Memory is the budget of bytes for the texts of all conversations in flight;
	// nil is without bound.
	Memory *bound.Budget
	// Logger defaults to discarding.
	Logger *slog.Logger
	// Replica tells this process from others with the same configuration, for
	// example the name of the pod: replicas are spread over time by its hash.
	Replica string
	// DrainTimeout is how long turns in flight may take after Run's context is
	// done; then they are cut and count as canceled.
	DrainTimeout time.Duration
}

// Scheduler runs the loops of the wanted jobs. All methods may be called from
// any goroutine.
type Scheduler struct {
	opts Options
	// hard ends when turns in flight are to be cut.
	hard context.Context
	cut  context.CancelFunc
	// loops are the goroutines of all runners, owned by Run.
	loops sync.WaitGroup
	// wanted is replaced as a whole, with mu held. Healthy and LastBeat read it
	// without: they must answer even while mu is held by something stuck.
	wanted atomic.Pointer[map[probe.Key]*runner]
	phase  atomic.Int32

	mu sync.Mutex
	// draining counts the runners of a key that were let go and are not over.
	draining map[probe.Key]int
	// made counts runners, to tell the conversations of a job from those of
	// its former self.
	made int
}

// Phases of a Scheduler's life.
const (
	idle int32 = iota
	running
	stopping
)

// New returns a Scheduler without jobs. Its loops run inside Run.
func New(opts Options) *Scheduler {
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.Sign == nil {
		opts.Sign = func(probe.Key) workload.Sign { return workload.Sign{} }
	}
	s := &Scheduler{opts: opts, draining: map[probe.Key]int{}}
	s.hard, s.cut = context.WithCancel(context.Background())
	s.wanted.Store(&map[probe.Key]*runner{})
	return s
}

// Run runs the loops of the applied jobs, and of those applied later, until
// ctx is done. Then it starts nothing more, gives turns in flight DrainTimeout
// to finish, cuts the rest, and returns when every goroutine has ended. It can
// be called once; a second call is an error.
func (s *Scheduler) Run(ctx context.Context) error {
	if !s.enter(idle, running, s.start) {
		return errors.New("the scheduler was run before; make a new one")
	}
	<-ctx.Done()
	s.enter(running, stopping, func(r *runner) { r.halt() })
	late := time.AfterFunc(s.opts.DrainTimeout, func() {
		if s.opts.DrainTimeout > 0 { // else it was asked for
			s.opts.Logger.Warn("cutting the turns still in flight", "after", s.opts.DrainTimeout)
		}
		s.cut()
	})
	s.loops.Wait()
	late.Stop()
	s.cut()
	return nil
}

// enter goes from one phase to the next with every runner, and reports whether
// it was in that phase.
func (s *Scheduler) enter(from, to int32, each func(*runner)) bool {
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

// start gives a runner its goroutine. The caller holds mu.
func (s *Scheduler) start(r *runner) {
	r.watch.beat()
	s.loops.Go(func() {
		r.run()
		s.over(r)
	})
}
