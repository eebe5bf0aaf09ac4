package sweep

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/study/runfile"
)

// Phase is what a sweep does at a moment.
type Phase string

const (
	PhaseSwitch  Phase = "switching"
	PhaseReady   Phase = "waiting until ready"
	PhaseShards  Phase = "waiting for the other shards"
	PhasePause   Phase = "pausing"
	PhasePrime   Phase = "priming the cache"
	PhaseWarmUp  Phase = "warming up"
	PhaseMeasure Phase = "measuring"
	PhaseDrain   Phase = "letting turns end"
)

// Progress says where a sweep is.
type Progress struct {
	// Cell is the name of the cell under way, the Number-th of Total; a search
	// does not know how many it will visit, its Total is the most there can be.
	Cell          string
	Number, Total int
	Phase         Phase
	// Coming are the names of the cells after it, as far as they are known.
	Coming []string
	// Measured is the time since the measurement of the cell began, 0 before; Planned
	// what it takes, 0 where it ends by a number of conversations.
	Measured, Planned time.Duration
	// Left is an estimate of the time to the end of the sweep.
	Left time.Duration
	Stats
}

// Live is told of the turns of a level, and of conversations that start (1) or end
// (−1).
type Live interface {
	probe.Sink
	Conversation(by int)
}

// unwatched is told of a level that nobody watches.
type noLive struct{}

func (noLive) Observe(probe.Event) {}

func (noLive) Conversation(int) {}

// live is who is told of a level of a variant.
func (s *sweep) live(variant string, level float64) Live {
	if s.Live == nil {
		return noLive{}
	}
	asked := level / float64(max(s.Part.Count, 1))
	if s.Plan.Kind == runfile.Concurrency {
		asked = float64(s.Part.Slots(int(level)))
	}
	return s.Live(variant, level, s.Plan.Kind, asked)
}

// clock estimates the time left. What a cell takes beside its planned times
// (answers that are waited for at its end, a number of conversations) is learned
// from the cells before; switches and waits for readiness are not, for they come
// when they come.
type clock struct {
	plan    Plan
	started time.Time // of the cell under way
	// over is what the ended cells took beside their planned times, in all.
	extra time.Duration
	ended int
}

// cell is the planned time of one cell, without the pause before it. A number of conversations takes until
// the last of them starts; nothing if that is not known.
func (c *clock) planned(i int) time.Duration {
	w, m := c.plan.WarmUp, c.plan.Measure
	d := w.Duration + w.Cooldown + m.Duration()
	if w.Conversations > 0 {
		d += inSeconds(float64(w.Conversations) / w.Rate)
	}
	if m.Conversations > 0 && c.plan.Kind == runfile.Rate {
		d += inSeconds(float64(m.Conversations) / c.plan.Levels[i])
	}
	return d
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *clock) end(i int, now time.Time) {
	c.extra += now.Sub(c.started) - c.planned(i)
	c.ended++
}

// left estimates the time for the levels still to come, the first of which is
// under way, or is about to begin after a pause.
func (c *clock) left(levels []int, now time.Time) (total time.Duration) {
	beside := c.extra / time.Duration(max(c.ended, 1))
	for n, i := range levels {
		cell := max(c.planned(i)+beside, 0)
		switch {
		case n > 0:
			cell += c.plan.Pause
		case !c.started.IsZero():
			cell = max(cell-now.Sub(c.started), 0)
		}
		total += cell
	}
	return total
}
