// Package slo holds service level objectives and judges turns by them.
//
// "p99 of TTFT under 1 s" and "99 % of turns have TTFT ≤ 1 s" are the same
// statement: an Objective serves reports, live counters, rules and dashboards.
package slo

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/lag"
)

// SLI is what an objective measures of a turn.
type SLI string

const (
	TTFT         SLI = "ttft"
	AnswerTTFT   SLI = "answer_ttft"
	TPOT         SLI = "tpot"
	ITL          SLI = "itl" // the longest gap between two tokens of the turn
	TurnDuration SLI = "turn_duration"
	Availability SLI = "availability"
)

// Objective is one SLO.
type Objective struct {
	// Name is the value of the "slo" label.
	Name string
	SLI  SLI
	// Threshold is the highest good value; 0 for Availability.
	Threshold time.Duration
	// Objective is the wanted share of good turns, in (0, 1).
	Objective float64
	// Window is the error budget's period.
	Window time.Duration
	// Targets, Workloads and Turns restrict the objective; empty means all.
	Targets, Workloads []string
	Turns              []probe.TurnKind
}

// Covers reports whether the objective applies to such turns.
func (o Objective) Covers(target, workload string, kind probe.TurnKind) bool {
	return o.CoversJob(target, workload) && among(o.Turns, kind)
}

// CoversJob reports whether the objective applies to any turn of a workload
// sent to a target.
func (o Objective) CoversJob(target, workload string) bool {
	return among(o.Targets, target) && among(o.Workloads, workload)
}

func among[T comparable](set []T, v T) bool {
	return len(set) == 0 || slices.Contains(set, v)
}

// Verdict is what an objective says of one turn.
type Judgement uint8

const (
	// NotJudged: the turn gives no sample (ended by the prober itself, too late
	// by its own doing, of a burst, outside the objective, or undefined as TPOT of a one-token
	// answer).
	NotJudged Judgement = iota
	Good
	Bad
)

// Tolerance is how much the prober itself may have added to a time to first token
// for the objective to judge the turn. What is measured from the first token on
// bears more: it has a lag of its own.
func (o Objective) Tolerance() time.Duration {
	switch o.SLI {
	case Availability, TPOT, ITL:
		return lag.MaxTolerance
	}
	return lag.Tolerance(o.Threshold)
}

// LeavesOut reports whether the objective would judge the turn if the prober
// itself had not been too late: it is then left out, good or bad.
func (o Objective) LeavesOut(r probe.Result) bool {
	return o.tooLate(r) && !r.Outcome.Own() && !r.Burst && o.Covers(r.Target, r.Workload, r.Kind)
}

// tooLate reports whether the prober itself may have made the verdict.
func (o Objective) tooLate(r probe.Result) bool {
	if r.Lag > o.Tolerance() {
		return true
	}
	switch o.SLI {
	case TPOT:
		return r.TokenLag() > o.Threshold/10
	case ITL, AnswerTTFT, TurnDuration:
		return r.StreamLag > lag.Tolerance(o.Threshold)
	}
	return false
}

// Judge judges a turn at the exact threshold. A value that was measured
// decides for itself (a stream cut after a quick first token had a good TTFT);
// a failed turn without the value is bad, as if the value were +∞; and TPOT,
// ITL, turn duration and availability are bad for every failed turn.
func (o Objective) Judge(r probe.Result) Judgement {
	if r.Outcome.Own() || r.Burst || o.tooLate(r) || !o.Covers(r.Target, r.Workload, r.Kind) {
		return NotJudged
	}
	failed := r.Outcome.Failed()
	switch o.SLI {
	case Availability:
		return judgement(!failed)
	case TTFT:
		return o.measured(r.TTFT, failed)
	case AnswerTTFT:
		return o.measured(r.AnswerTTFT, failed)
	}
	if failed {
		return Bad
	}
	switch o.SLI {
	case TPOT:
		return o.measured(r.TPOT, false)
	case ITL:
		if len(r.Gaps) == 0 {
			return NotJudged
		}
		return judgement(slices.Max(r.Gaps) <= o.Threshold)
	case TurnDuration:
		return judgement(r.Duration() <= o.Threshold)
	}
	return NotJudged
}

// measured judges a value that may be missing.
func (o Objective) measured(v probe.Opt[time.Duration], failed bool) Judgement {
	switch {
	case v.OK:
		return judgement(v.V <= o.Threshold)
	case failed:
		return Bad
	}
	return NotJudged
}

func judgement(good bool) Judgement {
	if good {
		return Good
	}
	return Bad
}
