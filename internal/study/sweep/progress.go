package sweep

import (
	"time"

	"synthetic/internal/fleet"
)

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
	// cell is the name of the current cell, number Number of Total. In a search, Total is the
	// largest possible number.
	Cell          string
	Number, Total int
	Phase         Phase
	Left          time.Duration // the estimated time to the end of the sweep
	Stats
}

// clock estimates the time left. From earlier cells it learns the additional time of a cell,
// such as waiting for the last answers. It ignores switches and waits for readiness, which are
// irregular.
type clock struct {
	plan    fleet.Plan
	started time.Time     // of the current cell
	extra   time.Duration // the time of the ended cells beyond their planned time, in total
	ended   int
}

// planned returns the planned time of a cell without the pause before it. A number of
// conversations takes until the last one starts, 0 if unknown.
func (c *clock) planned(i int) time.Duration {
	m := c.plan.Measure
	d := c.plan.WarmUp.Length() + m.Duration()
	if m.Conversations > 0 && c.plan.OpenLoop {
		d += inSeconds(float64(m.Conversations) / c.plan.Levels[i])
	}
	return d
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *clock) end(i int, now time.Time) {
	c.extra += now.Sub(c.started) - c.planned(i)
	c.ended++
}

// left estimates the time for the coming levels. The first one is running, or begins after a
// pause.
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
