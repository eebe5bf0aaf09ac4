package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/probe/lag"
	"synthetic/internal/study/runfile"
)

// ErrInterrupted is the error of a sweep that was stopped from outside. What
// it measured until then is kept.
var ErrInterrupted = errors.New("the sweep was stopped before its end")

// Options are what a sweep needs. Plan and Dir are required.
type Options struct {
	Plan Plan
	// Dir is the output directory: see Open.
	Dir string
	// Resume goes on with what Dir holds.
	Resume bool
	// FindCapacity searches for the highest level that meets the objectives
	// instead of measuring all of them: among the plan's levels, and between them
	// down to steps of Resolution, a share of the level; 0 for none between.
	FindCapacity bool
	Resolution   float64
	// ID tells this sweep from every other; empty draws a new one. Equal IDs
	// bust no cache of each other.
	ID string
	// Part is which part of the load this process carries; the zero value is all.
	// Of several parts the first has Lead, which tells the others what to do, and
	// these have Follow. They wait Patience for each other.
	Part     load.Shard
	Lead     *Lead
	Follow   *Client
	Patience time.Duration
	// Tool is put into the run.
	Tool runfile.Tool
	// Dial opens the connections to targets; nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Lag watches how late this process is, while Run runs; nil means never.
	Lag *lag.Monitor
	// Throttled is how long the process' CPU limit has kept it from running so far;
	// nil, or false, means that nobody knows.
	Throttled func() (time.Duration, bool)
	// Command runs the command of a switch; nil means RunCommand.
	Command func(ctx context.Context, s Switch, env []string) error
	// Progress is told where the sweep is, at every change and every second of
	// a measurement, Finished of every result that is safe on disk, and why it did
	// not reach its level, "" if it did. Both are
	// called from the goroutine of Run and may be nil.
	Progress func(Progress)
	Finished func(r runfile.Result, notReached string)
	// Live begins a level: what it returns is told what happens in it as it happens, by
	// many goroutines. asked is this process' part of the level. nil tells nobody.
	Live func(variant string, level float64, kind runfile.LevelKind, asked float64) Live
	// Logger defaults to discarding.
	Logger *slog.Logger
}

type sweep struct {
	Options
	id    string // marks the texts that are to be new to every cache
	store *store
	clock clock
	run   *runfile.Run
	team  team
	// calibration is by what the texts of the whole sweep are measured.
	calibration calibration

	// current is the variant that the deployment is, −1 before the first; ready
	// holds the models of those that took a turn since they were switched to.
	current int
	ready   map[int]string
	// lost says that the target was gone when the level before ended.
	lost error
	// described has the variants whose parameters are in the run.
	described map[string]bool
	progress  Progress
	listed    int // how many levels the plan has
	kept      []*record
	coming    []int // levels still to be measured, the one under way first
}

// Run measures the plan and returns the run, which is in Dir/run.json too. It
// also returns a run, and writes it, when it ends before its time: with
// ErrInterrupted when ctx ended, with another error when the deployment is not
// to be had. Only a Dir that cannot be used gives no run.
func Run(ctx context.Context, o Options) (*runfile.Run, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.FindCapacity && o.Plan.Ramp.Over > 0 {
		return nil, errors.New("--find-capacity: a search measures levels of one rate; take ramp out of the plan's levels")
	}
	if n := o.Plan.MaxConcurrency; n > 0 && n < o.Part.Count {
		return nil, fmt.Errorf("max_concurrency is %d, and each of %d shards has to be allowed one conversation; raise it", n, o.Part.Count)
	}
	if o.Command == nil {
		o.Command = RunCommand
	}
	mates, leave, err := o.join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	st, err := openStore(o)
	if err != nil {
		return nil, err
	}
	defer st.close()
	listed := len(o.Plan.Levels)
	if o.FindCapacity && o.Resolution > 0 {
		o.Plan.Levels = refineLevels(o.Plan.Levels, o.Resolution, o.Plan.Kind)
	}
	s := &sweep{
		Options: o, listed: listed, id: st.header.ID, store: st, clock: clock{plan: o.Plan},
		current: -1, ready: map[int]string{}, described: map[string]bool{}, team: mates,
	}
	if o.Resume { // the level that was under way has been heard already
		s.id = newID()
	}
	defer s.watchLag()()
	s.run = s.newRun()
	err = s.levels(ctx)
	if err != nil {
		s.run.Interrupted = err.Error()
	}
	s.keepUnvisited()
	s.completeRun()
	return s.run, errors.Join(err, runfile.Write(st.path("run.json"), s.run), s.joinTurns())
}

// levels measures all of them.
func (s *sweep) levels(ctx context.Context) (err error) {
	if t, ok := s.team.(*follower); ok {
		s.restoreClock(t)
		return s.follow(ctx, t)
	}
	if t, ok := s.team.(*leader); ok {
		t.Open(s.store.header.ID)
		defer func() { err = t.finish(ctx, err) }()
	}
	if s.FindCapacity {
		err = s.search(ctx)
	} else {
		err = s.grid(ctx)
	}
	if err == nil {
		err = s.lost
	}
	return err
}

// watchLag begins to watch how late this process is; the function that it
// returns ends that.
func (s *sweep) watchLag() (end func()) {
	if s.Lag == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { _ = s.Lag.Run(ctx) }) // which ends with ctx alone
	return func() {
		cancel()
		watching.Wait()
	}
}

func (s *sweep) grid(ctx context.Context) error {
	cells := s.Plan.Cells()
	wanted := fullCurve
	if s.Plan.EarlyStop {
		wanted = dropDoomed
	}
	s.progress.Total = len(cells)
	for _, c := range cells {
		s.coming = append(s.coming, c.Level)
	}
	for i, c := range cells {
		s.progress.Number, s.progress.Coming = i+1, nil
		for _, next := range cells[i+1:] {
			s.progress.Coming = append(s.progress.Coming, s.Plan.name(next))
		}
		if _, err := s.visit(ctx, c, wanted); err != nil {
			return err
		}
		s.coming = s.coming[1:]
	}
	return nil
}

func (s *sweep) phase(p Phase) {
	s.progress.Phase, s.progress.Planned = p, s.Plan.Measure.Duration()
	s.reportProgress(Stats{}, 0)
}

func (s *sweep) reportProgress(stats Stats, measured time.Duration) {
	if s.Progress == nil {
		return
	}
	s.progress.Stats, s.progress.Measured = stats, measured
	s.progress.Left = s.clock.left(s.coming, time.Now())
	s.Progress(s.progress)
}

func (s *sweep) completeRun() {
	s.run.Generated = time.Now().UTC()
	s.run.Deployment = deployment(s.Plan, s.run.Deployment)
	s.run.Capacities = s.Plan.capacities(s.run, s.listed)
	slices.SortStableFunc(s.run.Results, func(a, b runfile.Result) int { return a.Started.Compare(b.Started) })
}
