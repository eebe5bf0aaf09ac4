package status

import (
	"math"
	"slices"
	"time"

	"synthetic/internal/probe"
)

// sample holds the values of a Result that figures need. A job keeps those of an hour.
type sample struct {
	end time.Time
	// longest is the longest gap between tokens, 0 without one
	duration, ttft, answer, tpot, longest, lag, streamLag shortDuration
	// tokens; estimate counts uncached tokens
	prompt, cached, estimate, output shortCount
	outcomeNumber                    uint8 // 1 + the index of probe.Outcomes, 0 for none
	kind                             uint8 // index of probe.TurnKinds
	cut                              bool  // the token limit ended the answer
	moved                            shortBool
}

// shortBool stores a bool that may be unknown in 1 byte.
type shortBool uint8

const (
	boolUnknown shortBool = iota
	boolFalse
	boolTrue
)

func shortBoolOf(o probe.Opt[bool]) shortBool {
	switch {
	case !o.OK:
		return boolUnknown
	case o.V:
		return boolTrue
	}
	return boolFalse
}

func (s shortBool) opt() probe.Opt[bool] {
	return probe.Opt[bool]{V: s == boolTrue, OK: s != boolUnknown}
}

// shortDuration stores a duration that may be unknown in 4 bytes: whole microseconds and, from 35 minutes on,
// milliseconds. It is rounded up, so that it exceeds a threshold of whole units if the duration does. 0 means unknown.
type shortDuration uint32

// inMilliseconds is the bit of a shortDuration that counts milliseconds.
const inMilliseconds = 1 << 31

func shortDurationOf(d time.Duration) shortDuration {
	d = max(d, 0)
	if n := (d + time.Microsecond - 1) / time.Microsecond; n < inMilliseconds-1 {
		return shortDuration(n) + 1
	}
	return inMilliseconds | shortDuration(min((d+time.Millisecond-1)/time.Millisecond, inMilliseconds-1))
}

func shortDurationOfOpt(d probe.Opt[time.Duration]) shortDuration {
	if !d.OK {
		return 0
	}
	return shortDurationOf(d.V)
}

func (s shortDuration) opt() probe.Opt[time.Duration] {
	switch {
	case s == 0:
		return probe.Opt[time.Duration]{}
	case s&inMilliseconds != 0:
		return probe.Some(time.Duration(s&^inMilliseconds) * time.Millisecond)
	}
	return probe.Some(time.Duration(s-1) * time.Microsecond)
}

// shortCount stores a number that may be unknown, plus 1; 0 means unknown.
type shortCount uint32

func shortCountOf(o probe.Opt[int]) shortCount {
	if !o.OK {
		return 0
	}
	return shortCount(min(max(o.V, 0), math.MaxUint32-1)) + 1
}

func (s shortCount) count() probe.Opt[int] { return probe.Opt[int]{V: int(max(s, 1)) - 1, OK: s > 0} }

func sampleOf(r probe.Result) sample {
	s := sample{
		end: r.End, kind: uint8(r.Kind.Index()), cut: r.IsCut(), moved: shortBoolOf(r.Moved), duration: shortDurationOf(r.Duration()),
		outcomeNumber: uint8(1 + slices.Index(probe.Outcomes(), r.Outcome)),
		ttft:          shortDurationOfOpt(r.TTFT), answer: shortDurationOfOpt(r.AnswerTTFT), tpot: shortDurationOfOpt(r.TPOT),
		prompt: shortCountOf(r.PromptTokens), cached: shortCountOf(r.CachedTokens), estimate: shortCountOf(r.UncachedEstimate),
		output: shortCountOf(r.OutputTokens), lag: shortDurationOf(r.Lag), streamLag: shortDurationOf(r.StreamLag),
	}
	if len(r.Gaps) > 0 {
		s.longest = shortDurationOf(slices.Max(r.Gaps))
	}
	return s
}

func (s *sample) outcome() probe.Outcome {
	if s.outcomeNumber == 0 {
		return ""
	}
	return probe.Outcomes()[s.outcomeNumber-1]
}

func (s *sample) turn() probe.TurnKind { return probe.TurnKinds()[s.kind] }

func (s *sample) latencies() [2]probe.Opt[time.Duration] {
	return [2]probe.Opt[time.Duration]{s.ttft.opt(), s.tpot.opt()}
}

// result returns a Result on which objectives have the same judgement as on the sample.
func (s *sample) result(key probe.Key) probe.Result {
	r := probe.Result{
		Target: key.Target, Workload: key.Workload, Kind: s.turn(), Outcome: s.outcome(),
		Sent: s.end.Add(-s.duration.opt().V), End: s.end,
		TTFT: s.ttft.opt(), AnswerTTFT: s.answer.opt(), TPOT: s.tpot.opt(),
		PromptTokens: s.prompt.count(), CachedTokens: s.cached.count(), UncachedEstimate: s.estimate.count(),
		OutputTokens: s.output.count(), Lag: s.lag.opt().V, StreamLag: s.streamLag.opt().V,
	}
	if s.longest > 0 {
		r.Gaps = []time.Duration{s.longest.opt().V}
	}
	return r
}
