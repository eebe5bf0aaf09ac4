// Package slo defines service level objectives and judges turns by them.
//
// An objective is a share of good turns: "p99 of TTFT under 1 s" means the same as "99 % of
// turns have a TTFT of at most 1 s". Reports, live counters, rules and dashboards all use it.
package slo

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/lag"
)

// SLI is what is measured of a turn: a timing, or one of the last two. An objective judges any but NTPOT; reports
// show the timings, and the sidecar watches some of them.
type SLI string

const (
	TTFT         SLI = "ttft"
	AnswerTTFT   SLI = "answer_ttft"
	TPOT         SLI = "tpot"
	NTPOT        SLI = "ntpot" // the duration of a turn over its output tokens
	ITL          SLI = "itl"   // the gaps between two tokens; an objective judges the longest one of a turn
	TurnDuration SLI = "turn_duration"
	Availability SLI = "availability"
	// Correct is good if the answer has the reference code that the turn asked for.
	Correct SLI = "correct"
)

// HasThreshold reports whether the SLI is a duration.
func (s SLI) HasThreshold() bool { return s != Availability && s != Correct }

// Objective is one SLO.
type Objective struct {
	// Name is the value of the "slo" label.
	Name string
	SLI  SLI
	// Threshold is the highest good value of a turn without uncached prompt tokens. Availability
	// and Correct have none. PerThousand is added for every 1,000 uncached prompt tokens; 0 is a plain threshold.
	Threshold, PerThousand time.Duration
	// Objective is the required share of good turns, between 0 and 1.
	Objective float64
	// Window is the period of the error budget.
	Window time.Duration
	// Targets, Workloads and Turns restrict the objective; empty means all.
	Targets, Workloads []string
	Turns              []probe.TurnKind
	// Uncached restricts the objective to turns of this size.
	Uncached Tokens
}

// Covers reports whether the objective applies to a turn of this kind.
func (o Objective) Covers(target, workload string, kind probe.TurnKind) bool {
	return o.CoversJob(target, workload) && matches(o.Turns, kind)
}

// Kind returns the only kind of turn that the objective covers, "" if it covers both.
func (o Objective) Kind() probe.TurnKind {
	if len(o.Turns) != 1 {
		return ""
	}
	return o.Turns[0]
}

// CoversJob reports whether the objective applies to any turn of the job.
func (o Objective) CoversJob(target, workload string) bool {
	return matches(o.Targets, target) && matches(o.Workloads, workload)
}

func matches[T comparable](set []T, v T) bool {
	return len(set) == 0 || slices.Contains(set, v)
}

// Judgement is the result of an objective for one turn.
type Judgement uint8

const (
	// NotJudged means that the turn does not count: the objective does not cover it or its size, it belongs to a burst,
	// the prober ended it or was too late, or the value is undefined (such as the TPOT of a one-token answer).
	NotJudged Judgement = iota
	Good
	Bad
)

// Tolerance is how late the prober may have read the first token of a turn whose latency counts.
// SLIs measured after the first token tolerate more; proberTooLate checks their own lag. A turn with
// uncached prompt tokens may have a higher tolerance, because its threshold is higher.
func (o Objective) Tolerance() time.Duration { return o.tolerance(o.Threshold) }

func (o Objective) tolerance(limit time.Duration) time.Duration {
	switch o.SLI {
	case Availability, Correct, TPOT, ITL:
		return lag.MaxTolerance
	}
	return lag.Tolerance(limit)
}

// SkippedAsLate reports whether the turn would have counted if the prober had not been too late.
func (o Objective) SkippedAsLate(r *probe.Result) bool {
	return o.Judge(r) == NotJudged && o.judge(r) != NotJudged
}

// Judge judges a turn by its exact threshold. A measured TTFT counts even if the stream was cut
// later. A failed turn without a TTFT is bad. For all other SLIs every failed turn is bad,
// but Correct judges only turns that asked for a code and have an answer.
//
// A late prober only adds to a TTFT and to a duration. So a good value is good, and one that would be too high without
// the lag is bad; only values between are not judged. Failed turns without a latency always count.
func (o Objective) Judge(r *probe.Result) Judgement {
	v := o.judge(r)
	if v == NotJudged || !o.proberTooLate(r) {
		return v
	}
	switch o.SLI {
	case TTFT, AnswerTTFT, TurnDuration:
		if v == Bad && o.judge(withoutLag(r)) == Good {
			return NotJudged
		}
		return v
	}
	return NotJudged
}

// withoutLag returns a turn whose latencies are lower by all that the prober may have added.
func withoutLag(r *probe.Result) *probe.Result {
	early, late := *r, max(r.Lag, r.StreamLag)
	early.TTFT.V, early.AnswerTTFT.V, early.End = r.TTFT.V-late, r.AnswerTTFT.V-late, r.End.Add(-late)
	return &early
}

// proberTooLate reports whether the prober's own lag could have changed the judgement of a latency.
func (o Objective) proberTooLate(r *probe.Result) bool {
	measured := r.Outcome == probe.Success || o.SLI == TTFT && r.TTFT.OK || o.SLI == AnswerTTFT && r.AnswerTTFT.OK
	switch {
	case !o.SLI.HasThreshold() || !measured:
		return false
	case r.Lag > o.tolerance(o.limit(r)):
		return true
	}
	switch o.SLI {
	case TPOT:
		return r.TokenLag() > o.Threshold/10
	case ITL, AnswerTTFT, TurnDuration:
		return r.StreamLag > lag.Tolerance(o.limit(r))
	}
	return false
}

// judge judges a turn as if the prober had not been late.
func (o Objective) judge(r *probe.Result) Judgement {
	if r.Outcome.Own() || r.Burst || !o.Covers(r.Target, r.Workload, r.Kind) || !o.sizeFits(r) {
		return NotJudged
	}
	failed := r.Outcome.Failed()
	switch o.SLI {
	case Availability:
		return judgement(!failed)
	case Correct:
		if r.Recall.Result == "" {
			return NotJudged
		}
		return judgement(r.Recall.Result == recall.Right)
	case TTFT:
		return judgeValue(r.TTFT, o.limit(r), failed)
	case AnswerTTFT:
		return judgeValue(r.AnswerTTFT, o.limit(r), failed)
	}
	if failed {
		return Bad
	}
	switch o.SLI {
	case TPOT:
		return judgeValue(r.TPOT, o.Threshold, false)
	case ITL:
		if len(r.Gaps) == 0 {
			return NotJudged
		}
		return judgement(slices.Max(r.Gaps) <= o.Threshold)
	case TurnDuration:
		return judgement(r.Duration() <= o.limit(r))
	}
	return NotJudged
}

// judgeValue judges a value that may be unknown.
func judgeValue(v probe.Opt[time.Duration], limit time.Duration, failed bool) Judgement {
	switch {
	case v.OK:
		return judgement(v.V <= limit)
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
