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

// watcher judges a measurement every second and decides when to end it.
type watcher struct {
	stats.Judge
	plan    Plan
	purpose purpose
	most    float64 // the share of the planned time after which a level that brackets ends
	run     *runfile.Run
	level   float64
	began   time.Time
	history []Counts
}

type purpose uint8

const (
	// fullCurve measures the whole level.
	fullCurve purpose = iota
	// dropDoomed gives up levels that cannot meet their objectives.
	dropDoomed
	// bracketing decides on which side of the level the search continues.
	bracketing
	// confirming decides whether the level is the capacity.
	confirming
)

type ending struct {
	state      runfile.State
	why        string
	verdict    *runfile.LevelVerdict
	targetLost bool // the target no longer answers
}

func (w *watcher) check(now time.Time, seen levelReport) *ending {
	b := w.TurnsOf(seen.Result)
	if seen.TargetLost != "" {
		end := &ending{state: runfile.EndedEarly, why: seen.TargetLost, verdict: w.failed(b), targetLost: true}
		if seen.Ours {
			end.verdict = runfile.NotJudgedBecause("the prober was the limit")
		}
		return end
	}
	w.history = append(w.history, seen.Counts)
	share := float64(seen.Ended) / float64(max(w.plan.Measure.Conversations, 1))
	if d := w.plan.Measure.Duration(); d > 0 {
		share = float64(now.Sub(w.began)) / float64(d)
	}
	if share < minLost || len(w.Objectives) == 0 || w.purpose == fullCurve {
		return nil
	}
	if seen.Result.Spoiled() || w.run.NotReached(seen.Result) != "" {
		return nil // it proves nothing
	}
	times := 1 + headroom*max(1-share, 0)/share // multiple of the turns so far, in total
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

// decided returns why a search can end a level that is not doomed, or nil.
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
		return endEarly(v, "every objective seems to be met, and the search continues above")
	}
	if w.purpose == bracketing && share >= w.most {
		v := w.JudgeTurns(b)
		if v.Decided = runfile.DecidedEarly; v.Met {
			v.Standing, v.Decided = runfile.Undecided, runfile.DecidedProvisional
		}
		return endEarly(v, "the search needs its other time to prove a level")
	}
	return nil
}

func (w *watcher) failed(b stats.Turns) *runfile.LevelVerdict {
	v := w.JudgeTurns(b)
	v.Met, v.Standing, v.Why, v.Confidence = false, runfile.Missed, "", 0
	return v
}

const (
	// filled is the number of conversation durations after which an open loop is full, if the
	// deployment keeps up.
	filled = 3
	// A queue grows if the turns in flight multiply by growth between half of the time and now,
	// and by that many standard deviations of a random number of turns.
	growth, deviations = 2, 4
)

// growing describes the growing queue of an open loop, or returns "". If the deployment keeps up, the turns in flight settle
// within a few conversations.
func (w *watcher) growing(s Counts) string {
	half := len(w.history) / 2
	full := filled * s.Early * time.Duration(max(w.plan.Workload.TurnsMax, 1))
	if w.plan.Kind != runfile.Rate || s.Turns < earlyTurns || time.Duration(half)*lookEvery < full {
		return ""
	}
	then, now := w.meanInFlight(half), w.meanInFlight(len(w.history))
	ended := float64(s.Turns - w.history[half].Turns)
	if now < growth*max(then, 1) || now-then < deviations*math.Sqrt(max(ended, 1)) {
		return ""
	}
	return fmt.Sprintf("the queue grows without bound: %.0f turns were in flight after %d s, %.0f after %d s", then, half, now, len(w.history))
}

// meanInFlight returns the mean number in flight over a twentieth of the time before a check.
func (w *watcher) meanInFlight(end int) float64 {
	n, sum := max(len(w.history)/20, 1), 0
	for _, p := range w.history[end-n : end] {
		sum += p.InFlight
	}
	return float64(sum) / float64(n)
}

const (
	// lostTurns consecutive failures, over at least lostAfter, mean that the target is dead.
	lostTurns = 20
	lostAfter = 10 * time.Second
)

// streak counts consecutive turns that failed as with a dead target or could not be sent. A
// busy (429) or slow (timeouts) deployment is not dead: a sweep measures these.
type streak struct {
	since    time.Time
	n        int
	outcomes map[probe.Outcome]int
	last     string
}

func (s *streak) add(r *probe.Result) {
	switch r.Outcome {
	case probe.Canceled, probe.UserCanceled, probe.ProberLate:
		return
	case probe.NotSent, probe.ConnectError, probe.TLSError, probe.HTTP5xx, probe.HTTP4xx, probe.Malformed, probe.Truncated:
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

// targetLost says why the target counts as dead, or returns "".
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
