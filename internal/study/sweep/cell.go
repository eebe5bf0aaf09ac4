package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/study/runs"
)

// visit returns the result of a cell, from disk or measured now and saved; nil if this shard leaves it out.
func (s *sweep) visit(ctx context.Context, c cell) (*runs.Result, error) {
	name := cellName(s.Plan, c)
	s.progress.Cell = name
	if rec := s.store.records[name]; rec != nil {
		return &rec.Result, nil
	}
	if err := s.prepare(ctx, c); ctx.Err() != nil {
		return nil, ErrInterrupted
	} else if err != nil {
		return nil, fmt.Errorf("before %s: %w", name, err)
	}
	if s.Shard.Count > 0 {
		if inTime := s.awaitSlot(ctx); ctx.Err() != nil {
			return nil, ErrInterrupted
		} else if !inTime {
			return nil, nil
		}
	}
	rec := &record{Cell: name}
	if err := s.measure(ctx, c, rec); err != nil {
		return nil, err
	}
	if rec.Result.State == runs.Interrupted {
		s.keep(rec)
		return nil, ErrInterrupted
	}
	return &rec.Result, s.finish(rec)
}

func (s *sweep) finish(rec *record) error {
	if err := s.store.save(rec); err != nil {
		return err
	}
	s.keep(rec)
	if s.Finished == nil {
		return nil
	}
	s.Finished(rec.Result, s.run.NotReached(rec.Result))
	return nil
}

// keep adds a result to the run, unless it was interrupted before its first turn.
func (s *sweep) keep(rec *record) {
	ended := func(b runs.Block) bool { return len(b.Outcomes) > 0 }
	if rec.Result.State != runs.Interrupted || slices.ContainsFunc(rec.Result.Blocks(), ended) {
		s.run.Results = append(s.run.Results, rec.Result)
	}
	if rec.Deployment != nil {
		s.described[rec.Result.Variant] = true
		s.run.Deployment = append(s.run.Deployment, rec.Deployment...)
	}
}

// prepare switches the deployment to the cell's variant and waits until it answers, or only
// pauses if it is the current variant.
func (s *sweep) prepare(ctx context.Context, c cell) error {
	v := s.Plan.Variants[c.Variant]
	first := s.current < 0
	if c.Variant != s.current && len(v.Switch) > 0 {
		s.phase(phaseSwitch)
		env := []string{"SYNTHETIC_VARIANT=" + v.Name, "SYNTHETIC_BASE_URL=" + v.Target.BaseURL}
		if err := s.Command(ctx, v.Switch, env); err != nil {
			return fmt.Errorf("switching to %q: %w", v.Name, err)
		}
		clear(s.ready) // the previous deployment may be gone
	}
	s.current = c.Variant
	if _, ok := s.ready[c.Variant]; !ok {
		s.phase(phaseReady)
		model, err := s.awaitReady(ctx, v)
		if err != nil {
			return err
		}
		s.ready[c.Variant] = model
		if s.Shard.Count > 0 && time.Now().After(s.StartAt) {
			return ctx.Err() // a warm-up would disturb the level that the other shards measure now
		}
		if err := s.warmUpVariant(ctx, c.Variant); err != nil {
			return err
		}
	}
	if !first && s.Shard.Count == 0 { // slots have their pauses
		s.phase(phasePause)
		load.Pause(ctx, s.Plan.Pause)
	}
	return ctx.Err()
}

// measure measures one level, and asks the variant for its description if it is unknown.
func (s *sweep) measure(ctx context.Context, c cell, rec *record) error {
	l, done, err := s.level(c)
	if err != nil {
		return err
	}
	defer done()
	load := probe.Field{Key: string(KindOf(s.Plan)), Value: l.value}
	repetition := probe.Field{Key: "repetition", Value: c.Repetition}
	if l.sink.records, err = newRecorder(s.store.path("levels", rec.Cell+turnsSuffix), load, repetition); err != nil {
		return err
	}
	v := s.Plan.Variants[c.Variant]
	if !s.described[v.Name] {
		rec.Deployment = parametersOf(v.Name, l.scraper.client.Describe(ctx, v.Metrics))
	}
	r := &rec.Result
	*r = runs.Result{Variant: v.Name, Level: l.value, Repetition: c.Repetition, Seed: l.seed, Started: time.Now()}
	end := l.run(ctx, r)
	r.Ended = time.Now()
	s.lost = nil
	if end.targetLost {
		s.lost = fmt.Errorf("the target stopped completing turns in level %s: %s", rec.Cell, r.Why)
		delete(s.ready, c.Variant)
		s.Logger.Warn("A level ended early; the next one waits until the target completes a turn", "level", rec.Cell, "why", r.Why)
	}
	return l.sink.records.close()
}

// level prepares what a cell needs; done releases it.
func (s *sweep) level(c cell) (l *level, done func(), err error) {
	v, seed := s.Plan.Variants[c.Variant], seedOf(s.Plan, c)
	source, err := workload.NewSource(s.Plan.Workload, seed)
	if err != nil {
		return nil, nil, err
	}
	source.Learn(s.calibration.chars, s.calibration.tokens)
	client, err := serverside.NewClient(v.Target, s.Dial)
	if err != nil {
		return nil, nil, err
	}
	prober, err := probe.New(probe.Options{Target: v.Target, Workload: s.Plan.Workload, Dial: s.Dial, Lag: s.Lag})
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	name, salt, bust := cellName(s.Plan, c), "", s.Plan.Cache.Policy == fleet.BustCache
	if bust || s.Plan.Workload.UniqueOpenings() { // so that its texts are new to every cache
		salt = "[run " + s.ID + " " + name + "]\n\n"
	}
	l = &level{
		sweep: s, plan: s.Plan, value: s.Plan.Levels[c.Level], seed: seed,
		conversations: &conversations{
			prober: prober, source: source, model: s.ready[c.Variant], label: name, salt: salt, sharesSystem: !bust,
		},
		sink:    newCollector(s.Plan.SLOs, blockOf(s.Plan)),
		scraper: newScraper(client, v.Metrics, s.Logger.With("variant", v.Name)),
	}
	return l, func() {
		client.Close()
		prober.Close()
		source.Close()
	}, nil
}
