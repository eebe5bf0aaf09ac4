package sweep

import "context"

// warmCache holds the load of the lowest level, for the time of a warm-up,
// with a variant that was just switched to. Its prefix cache may be empty, and
// the first level of a grid, which is low, would fill it in passing, where that
// of a search would have a queue of prefills that outlasts its warm-up: the
// same level would not be measured alike.
func (s *sweep) warmCache(ctx context.Context, variant int) error {
	w := s.Plan.WarmUp.Duration
	if s.Plan.Cache.Policy != Keep || w <= 0 {
		return nil
	}
	// No repetition has the number 0: what is said here is said in no level.
	l, done, err := s.level(Cell{Variant: variant}, fullCurve)
	if err != nil {
		return err
	}
	defer done()
	s.phase(PhaseWarmUp)
	hard, cut := context.WithCancel(ctx)
	defer cut()
	load := newLoad(hard, l.talk, l.sink, 0)
	l.start(load)
	pause(hard, w)
	cut()
	load.wait()
	return nil
}
