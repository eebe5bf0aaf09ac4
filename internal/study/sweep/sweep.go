package sweep

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/lag"
	"synthetic/internal/study/runs"
)

// ErrInterrupted means that a sweep was stopped. Its measurements are kept.
var ErrInterrupted = errors.New("the sweep was stopped before its end")

// Options configure a sweep. Plan and Dir are required.
type Options struct {
	Plan fleet.Plan
	Dir  string // the output directory (see store)
	// Resume continues the sweep in Dir.
	Resume bool
	// FindCapacity searches for the highest level that meets the objectives, instead of measuring all levels.
	FindCapacity bool
	// Shard is the share of each level that this process carries, in slots that begin at StartAt.
	Shard   fleet.Shard
	StartAt time.Time
	// ID marks the texts of this sweep; empty makes a random one. Sweeps with equal IDs use the same marks against caches.
	ID   string
	Tool runs.Tool // stored in the run
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Lag measures the lateness of this process during Run; nil means never.
	Lag     *lag.Monitor
	Command func(ctx context.Context, command, env []string) error
	// Progress receives the position of the sweep, at every change and every second of a
	// measurement. Finished receives every result after it was saved, and why it did not reach
	// its level, "" if it did. Both run in the goroutine of Run and may be nil.
	Progress func(Progress)
	Finished func(r runs.Result, notReached string)
	Logger   *slog.Logger
}

type sweep struct {
	Options
	store *store
	run   *runs.Run
	// calibration fixes the length of all texts of the sweep.
	calibration calibration

	// current is the active variant, −1 before the first. ready holds the models of variants
	// that answered a turn since their switch; served are the names of variants that ever answered one.
	current   int
	ready     map[int]string
	served    map[string]bool
	lost      error           // the target was gone at the end of the previous level
	described map[string]bool // the variants whose parameters are in the run
	progress  Progress
	slotBegin time.Time
}

// run measures the plan and returns the run, which is also in Dir/run.json. If it ends early,
// it also returns and writes a run: with ErrInterrupted if ctx ended, with another error if the
// deployment is unavailable. It returns no run only if Dir cannot be used.
func Run(ctx context.Context, o Options) (*runs.Run, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if err := o.checkShard(); err != nil {
		return nil, err
	}
	if o.Command == nil {
		o.Command = runCommand
	}
	st, err := openStore(o)
	if err != nil {
		return nil, err
	}
	defer st.close()
	o.ID = cmp.Or(st.header.ID, o.ID, o.sharedID())
	s := &sweep{
		Options: o, store: st,
		current: -1, ready: map[int]string{}, served: map[string]bool{}, described: map[string]bool{},
	}
	if err := st.begin(o); err != nil {
		return nil, err
	}
	if o.Resume && o.Shard.Count == 0 { // caches know the texts of the interrupted level; the store keeps the sweep's ID
		s.ID = newID()
	}
	defer s.watchLag()()
	s.run = s.newRun()
	byStart := func(a, b *record) int { return a.Result.Started.Compare(b.Result.Started) }
	for _, rec := range slices.SortedFunc(maps.Values(st.records), byStart) {
		s.keep(rec)
	}
	err = s.levels(ctx)
	if err != nil {
		s.run.Interrupted = err.Error()
	}
	s.run.Generated = time.Now().UTC()
	s.run.Deployment = deployment(s.Plan, s.run.Deployment)
	slices.SortStableFunc(s.run.Results, func(a, b runs.Result) int { return a.Started.Compare(b.Started) })
	return s.run, errors.Join(err, runs.Write(st.path("run.json"), s.run))
}

func (s *sweep) levels(ctx context.Context) (err error) {
	switch {
	case s.FindCapacity:
		err = s.search(ctx)
	case s.Shard.Count > 0:
		err = s.slots(ctx)
	default:
		err = s.grid(ctx)
	}
	return cmp.Or(err, s.lost)
}

// watchLag starts to measure the lateness of this process, and returns a function that stops it.
func (s *sweep) watchLag() (end func()) {
	if s.Lag == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { _ = s.Lag.Run(ctx) }) // returns only because ctx ended
	return func() {
		cancel()
		watching.Wait()
	}
}

func (s *sweep) grid(ctx context.Context) error {
	cells := Cells(s.Plan)
	s.progress.Total = len(cells)
	for i, c := range cells {
		s.progress.Number = i + 1
		if _, err := s.visit(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *sweep) phase(p Phase) {
	s.progress.Phase = p
	s.reportProgress(Stats{})
}

func (s *sweep) reportProgress(stats Stats) {
	s.progress.Stats = stats
	if s.Progress != nil {
		s.Progress(s.progress)
	}
}

// Phase is the current activity of a sweep.
type Phase string

const (
	phaseSwitch  Phase = "switching"
	phaseReady   Phase = "waiting until ready"
	phaseSlot    Phase = "waiting for the slot"
	phasePause   Phase = "pausing"
	phasePrime   Phase = "priming the cache"
	phaseWarmUp  Phase = "warming up"
	PhaseMeasure Phase = "measuring"
	phaseDrain   Phase = "letting turns end"
)

// Progress is the position of a sweep.
type Progress struct {
	// cell is the name of the current cell, number Number of Total. In a search, Total is the largest possible number.
	Cell          string
	Number, Total int
	Phase         Phase
	Stats
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
