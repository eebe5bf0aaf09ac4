package replay

import (
	"errors"
	"fmt"
	"io"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

// Run runs all levels of a plan against a preset, and returns the figures of each.
func Run(p fleet.Plan, preset string, seed uint64) (all []LevelFigures, err error) {
	o, err := simulate.Preset(preset)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	config := *o.Cluster
	config.Seed = seed
	c := cluster.New(config)
	measure := closed
	if p.OpenLoop {
		measure = open
	}
	for i, at := range p.Levels {
		// Each level has its own seed, so that its conversations are new.
		f, err := measure(p, o, c, at, seed*100+uint64(i))
		if err != nil {
			return nil, err
		}
		all = append(all, f)
		c.Advance(c.Now()+p.Pause, nil)
	}
	return all, nil
}

func closed(p fleet.Plan, o simulate.Options, c *cluster.Cluster, concurrency float64, seed uint64) (LevelFigures, error) {
	begin, length := c.Now()+p.WarmUp.Duration, p.Measure.Duration()
	turns, err := newChat(p, o, seed).run(c, int(concurrency), p.WarmUp.Duration+length)
	return LevelFigures{Figures: window(turns, begin, begin+length)}, err
}

func open(p fleet.Plan, o simulate.Options, c *cluster.Cluster, rate float64, seed uint64) (LevelFigures, error) {
	prompts, err := readPrompts(p.Workload.Trace)
	if err != nil {
		return LevelFigures{}, err
	}
	return bench{
		arrival: p.Arrival, requests: p.Measure.Conversations, prime: p.Cache.Conversations, warmUp: p.WarmUp,
		prompts: prompts, answer: length{o.Answer, p.Workload.MaxOutputTokens}, seed: seed,
	}.run(c, rate)
}

// messageTokens is what the simulated deployment counts for a message besides its text.
const messageTokens = 4

// newChat returns the closed loop of a plan, with the answers of a preset.
func newChat(p fleet.Plan, o simulate.Options, seed uint64) chat {
	w := p.Workload
	c := chat{
		rate: p.StartRate, minTurns: w.TurnsMin, maxTurns: w.TurnsMax,
		firstAnswer: length{o.FirstAnswer, w.MaxOutputTokens}, answer: length{o.Answer, w.MaxOutputTokens},
		// A follow-up closes the answer before it and opens the next one.
		question: w.FollowupTokens + 2*messageTokens, seed: seed,
	}
	for range w.Starters {
		c.starters = append(c.starters, w.PromptTokens)
	}
	return c
}

// readPrompts reads the first turn of each record.
func readPrompts(from workload.Trace) (all []trace.Turn, err error) {
	r, err := trace.Open(from.File, from.Options)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	defer r.Close()
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		all = append(all, record.Turns[0])
	}
}
