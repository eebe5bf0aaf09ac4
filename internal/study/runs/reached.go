package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"synthetic/internal/sketch"
	"synthetic/internal/slo"
)

// ReachedShare is the share of its load that a level must have carried.
const ReachedShare = 0.95

const (
	// refusedShare: a closed loop in which more than 1 turn in refusedShare failed is judged by
	// its errors instead, because a deployment that refuses at once leaves places empty.
	refusedShare = 20
	// lateStarts is the p99 of the schedule lag above which the prober is the cause.
	lateStarts = 10 * time.Millisecond
)

// NotReached says why a result did not carry the load of its level, and what helps. Such a result proves nothing about
// its level and is not compared. It returns "" if the level was reached, or if the file does not tell.
func (r *Run) NotReached(x Result) string {
	if len(x.MissingShards) > 0 {
		return fmt.Sprintf("it had a part of its load, because shards %v did not measure it; repeat the sweep", x.MissingShards)
	}
	carried, asked, ok := r.carriedLoad(x)
	if !ok || carried >= ReachedShare*asked {
		return ""
	}
	if r.LevelKind == Rate {
		return fmt.Sprintf("%.3g of %.3g conversations per second were started: %s", x.Level*carried/asked, x.Level, r.belowRate(x))
	}
	return fmt.Sprintf("%.1f of %g were in flight: %s", carried, asked, r.belowConcurrency(x))
}

// carriedLoad returns the load of a result and the wanted load: conversations in flight, or
// conversations started and due.
func (r *Run) carriedLoad(x Result) (carried, asked float64, ok bool) {
	var seconds, held float64
	var started, due uint64
	known := true
	for _, s := range x.Snapshots {
		if mean := s.ConversationsMean; mean == nil {
			known = false
		} else {
			seconds, held = seconds+s.Seconds, held+*mean*s.Seconds
		}
		started, due = started+s.ConversationStarts, due+s.ConversationsDue
	}
	if r.LevelKind == Rate {
		return float64(started), float64(due), due > 0
	}
	ended, failed := x.EndedTurns()
	return held / seconds, float64(r.Shard.Slots(int(x.Level))), known && seconds > 0 && failed*refusedShare <= ended
}

// HasNoThinkTime reports whether turns of the workload follow each other at once, so that each
// conversation always has a turn in flight.
func HasNoThinkTime(workload []Parameter) bool {
	return slices.ContainsFunc(workload, func(p Parameter) bool { return p.Name == "think_time" && p.Value == "0s … 0s" })
}

func (r *Run) belowRate(x Result) string {
	for _, s := range x.Snapshots {
		if s.ConversationSkips > 0 {
			return "starts were skipped at max_concurrency, because the deployment does not keep up; raise it to see the queue, or measure lower rates"
		}
	}
	return "the prober was late; " + remedy
}

func (r *Run) belowConcurrency(x Result) string {
	ramp := math.NaN()
	if r.TargetRPS != nil {
		ramp = x.Level / *r.TargetRPS
	}
	lags := cmp.Or(Sum(x).ScheduleLag, &sketch.Sketch{})
	switch lag := lags.Quantile(0.99); {
	case r.Conversations > 0:
		return "the measurement ends by a number of conversations, so it includes the time in which the first ones start and the last ones end; measure for a time, or more conversations"
	case ramp > r.WarmUpSeconds:
		return fmt.Sprintf("at a start_rate of %g/s the level is full after %s, and the warm-up is %s; raise start_rate, or warm up longer",
			*r.TargetRPS, roundToMillis(ramp), roundToMillis(r.WarmUpSeconds))
	case lag > lateStarts.Seconds():
		return fmt.Sprintf("the prober was late, 1 start in 100 by %s or more; %s", roundToMillis(lag), remedy)
	}
	return "conversations did not follow each other immediately; give more cores to the prober, or to the model that writes the user's messages"
}

func roundToMillis(s float64) time.Duration {
	return slo.FromSeconds(s).Round(time.Millisecond)
}

const remedy = "give it more CPU"
