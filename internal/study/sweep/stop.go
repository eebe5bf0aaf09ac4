package sweep

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

// watcher looks at a measurement once a second and says when there is no point
// in going on.
type watcher struct {
	judgement
	plan    Plan
	purpose purpose
	run     *runfile.Run
	level   float64
	began   time.Time
	history []Counts
}

type purpose uint8

const (
	// fullCurve wants the whole level, whatever it shows.
	fullCurve purpose = iota
	// dropDoomed gives up levels that cannot meet their objectives.
	dropDoomed
	// bracketing decides on which side of the level to search on.
	bracketing
	// confirming decides whether the level is the capacity.
	confirming
)

type ending struct {
	state   runfile.State
	why     string
	verdict *runfile.LevelVerdict
	// targetLost says that the target does not answer any more.
	targetLost bool
}

// unfit reports that what was measured says nothing of the level: the prober itself
// was too late, or the level does not carry its load.
func (w *watcher) provesNothing(r runfile.Result) bool {
	return r.Spoiled() || w.run.NotReached(r) != ""
}

// look returns why to end now, or nil.
func (w *watcher) check(now time.Time, seen Report) *ending {
	b := w.TurnsOf(seen.Result)
	if seen.TargetLost != "" {
		end := &ending{state: runfile.EndedEarly, why: seen.TargetLost, verdict: w.failed(b), targetLost: true}
		if seen.Ours {
			end.verdict = w.Unproven(b)
		}
		return end
	}
	w.history = append(w.history, seen.Counts)
	share := float64(seen.Ended) / float64(max(w.plan.Measure.Conversations, 1))
	if d := w.plan.Measure.Duration(); d > 0 {
		share = float64(now.Sub(w.began)) / float64(d)
	}
	if share < minLost || len(w.Objectives) == 0 || w.purpose == fullCurve || w.provesNothing(seen.Result) {
		return nil
	}
	times := 1 + headroom*max(1-share, 0)/share // of the turns so far, in all
	if v := w.lost(b, times); v != nil {
		return endEarly(v, "doomed: %s cannot be met any more (chance of error below %.3g)", strings.Join(v.Lost, ", "), v.Error)
	}
	if why := w.growing(seen.Counts); why != "" {
		return endEarly(w.failed(b), "doomed: %s", why)
	}
	return w.decided(b, share, times)
}

func endEarly(v *runfile.LevelVerdict, why string, args ...any) *ending {
	return &ending{state: runfile.EndedEarly, why: fmt.Sprintf(why, args...), verdict: v}
}

// decided returns why a search knows enough of a level that is not doomed.
func (w *watcher) decided(b stats.Turns, share, times float64) *ending {
	if w.purpose == dropDoomed {
		return nil
	}
	if share >= minFutile {
		if names := w.futile(b, times); names != nil {
			v := w.JudgeTurns(b)
			v.Decided = runfile.DecidedEarly
			return endEarly(v, "the level cannot be proven to meet %s any more", strings.Join(names, ", "))
		}
	}
	v := w.met(b)
	switch {
	case v == nil:
	case share >= minMet:
		return endEarly(v, "every objective is met (chance of error below %.3g)", v.Error)
	case w.purpose == bracketing && share >= minProvisional:
		v.Standing, v.Decided = runfile.Undecided, runfile.DecidedProvisional
		return endEarly(v, "every objective seems to be met, and the search goes on above")
	}
	return nil
}

// failed is the verdict of a level that failed for another reason than its
// judged turns.
func (w *watcher) failed(b stats.Turns) *runfile.LevelVerdict {
	v := w.JudgeTurns(b)
	v.Met, v.Standing, v.Confidence = false, runfile.Missed, 0
	return v
}

const (
	// filled conversations after its start an open loop is as full as it gets
	// if the deployment keeps up.
	filled = 3
	// growth of the turns in flight between the half and the whole of the time,
	// and by how many standard deviations of a random number of turns, are a
	// queue that grows.
	growth, deviations = 2, 4
)

// growing says why the queue of an open loop of an even rate grows, or "": on a
// ramp, and in a trace, the load itself may. While the deployment keeps up, what is in flight settles within the time of a few
// conversations, told by the first turns; it is compared between the half and
// the whole of the time.
func (w *watcher) growing(s Counts) string {
	half := len(w.history) / 2
	full := filled * s.Early * time.Duration(max(w.plan.Workload.TurnsMax, 1))
	uneven := w.plan.Ramp.Over > 0 || w.plan.OwnRate > 0 && w.plan.Workload.Trace.File != ""
	if w.plan.Kind != runfile.Rate || uneven || s.Turns < earlyTurns || time.Duration(half)*lookEvery < full {
		return ""
	}
	then, now := w.meanInFlight(half), w.meanInFlight(len(w.history))
	ended := float64(s.Turns - w.history[half].Turns)
	if now < growth*max(then, 1) || now-then < deviations*math.Sqrt(max(ended, 1)) {
		return ""
	}
	return fmt.Sprintf("the queue grows without bound: %.0f turns were in flight after %d s, %.0f after %d s", then, half, now, len(w.history))
}

// around is the mean number in flight over a twentieth of the time before a
// look.
func (w *watcher) meanInFlight(end int) float64 {
	n, sum := max(len(w.history)/20, 1), 0
	for _, p := range w.history[end-n : end] {
		sum += p.InFlight
	}
	return float64(sum) / float64(n)
}

const (
	// lostTurns failures in a row, over at least lostAfter, make a target dead.
	lostTurns = 20
	lostAfter = 10 * time.Second
)

// streak counts the turns that failed in a row as those of a dead target do, or
// that could not be sent. A deployment that is busy (429) or slow (timeouts) is
// not dead: that is what a sweep measures.
type streak struct {
	since    time.Time
	n        int
	outcomes map[probe.Outcome]int
	last     string
}

func (s *streak) add(r probe.Result) {
	switch r.Outcome {
	case probe.Canceled, probe.UserCanceled, probe.ProberLate:
		return
	case probe.NotSent, probe.ConnectError, probe.TLSError, probe.HTTP5xx, probe.HTTP4xx, probe.Truncated:
	default:
		*s = streak{}
		return
	}
	if s.n == 0 {
		s.since, s.outcomes = r.End, map[probe.Outcome]int{}
	}
	s.n++
	s.outcomes[r.Outcome]++
	s.last = r.Err
}

// targetLost says why the target is taken for dead at a time, or "".
func (s *streak) targetLost(now time.Time) string {
	if s.n < lostTurns || now.Sub(s.since) < lostAfter {
		return ""
	}
	var parts []string
	for _, o := range slices.Sorted(maps.Keys(s.outcomes)) {
		parts = append(parts, fmt.Sprintf("%s %d", o, s.outcomes[o]))
	}
	return fmt.Sprintf("no turn succeeds any more: the last %d turns failed (%s), the first of them %s ago; the last said: %s",
		s.n, strings.Join(parts, ", "), now.Sub(s.since).Round(time.Second), s.last)
}
