package backtest

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/turnlog"
)

// WriteTurns writes the turns of one run with faults of the first seed, warm-up
// included, as a log of turns, and its incidents as lines of name, start, end and
// target. Without a fleet, each model is a target of its name with faults of its
// own.
func (c Campaign) WriteTurns(ctx context.Context, log, incidents io.Writer) error {
	o := c.options(runKey{world: world{deployments: c.targets()}, seed: c.Seeds[0], faulty: true})
	if c.Fleet == 0 {
		for i := range o.Deployments {
			d := &o.Deployments[i]
			d.Injections = c.injections(o.Length-time.Duration(c.Days)*day, o.Length, d.Seed)
		}
	}
	if err := writeIncidents(incidents, o, c.Fleet > 0); err != nil {
		return fmt.Errorf("writing the incidents: %w", err)
	}
	if err := writeTurns(ctx, log, o); err != nil {
		return fmt.Errorf("writing the turns: %w", err)
	}
	return nil
}

// targets are a fleet, or the models as targets.
func (c Campaign) targets() []Deployment {
	if c.Fleet > 0 {
		return c.fleet()
	}
	var all []Deployment
	for _, m := range c.Models {
		all = append(all, Deployment{Target: m.Name, Model: m})
	}
	return all
}

// writeIncidents writes the faults of each deployment, or once if they are the same
// for all of them.
func writeIncidents(w io.Writer, o SimulationOptions, shared bool) error {
	out := csv.NewWriter(w)
	at := func(d time.Duration) string { return o.Start.Add(d).Format(time.RFC3339Nano) }
	for _, d := range o.Deployments {
		for _, i := range d.Injections {
			row := []string{i.Fault.Name, at(i.From), at(i.To), d.Target}
			if shared {
				row = row[:3]
			}
			_ = out.Write(row) // Error says it
		}
		if shared {
			break
		}
	}
	out.Flush()
	return out.Error()
}

// ended takes the turns that ended.
type ended struct{ turns []turnlog.Turn }

// Observe implements probe.Sink.
func (e *ended) Observe(event probe.Event) {
	if r, ok := event.(probe.Result); ok {
		e.turns = append(e.turns, turnlog.Of(r))
	}
}

// writeTurns plays the deployments an hour at a time. A turn is written once no
// earlier one can be under way.
func writeTurns(ctx context.Context, w io.Writer, o SimulationOptions) error {
	var done ended
	var all []*traffic
	for _, d := range o.Deployments {
		all = append(all, newTraffic(d, o.Start, o.Length, &done))
	}
	for at := time.Hour; at <= o.Length; at += time.Hour {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, t := range all {
			t.advance(at)
		}
		until := o.Start.Add(at - TurnTimeout)
		if at == o.Length {
			until = o.Start.Add(at)
		}
		slices.SortStableFunc(done.turns, func(a, b turnlog.Turn) int { return a.At.Compare(b.At) })
		var lines []byte
		n := 0
		for ; n < len(done.turns) && done.turns[n].At.Before(until); n++ {
			lines = done.turns[n].Append(lines)
		}
		done.turns = slices.Delete(done.turns, 0, n)
		if _, err := w.Write(lines); err != nil {
			return err
		}
	}
	return nil
}
