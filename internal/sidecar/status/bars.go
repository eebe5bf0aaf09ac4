package status

import (
	"time"

	"synthetic/internal/probe"
)

// Part is what a turn did for a while.
type Part string

// The parts of a turn in their order. The last three end a turn that got its
// tokens, that failed, and that was canceled before its first token.
const (
	DNS        Part = "dns"
	Connect    Part = "connect"
	TLS        Part = "tls"
	Headers    Part = "headers"
	FirstEvent Part = "event"
	FirstToken Part = "token"
	Tokens     Part = "tokens"
	Failed     Part = "failed"
	Rest       Part = "rest"
)

// Bar is one part of a turn. From and To count from the turn's sending.
type Bar struct {
	Part     Part
	From, To time.Duration
}

// Bars lists the parts of a turn one after the other, from its sending to its
// end. A turn that failed ends in the part that it never came out of.
func Bars(r probe.Result) []Bar {
	total := r.Duration()
	if total <= 0 {
		return nil
	}
	var all []Bar
	var at time.Duration
	until := func(part Part, end time.Duration) {
		if end = min(end, total); end >= at {
			all = append(all, Bar{part, at, end})
			at = end
		}
	}
	took := func(part Part, d probe.Opt[time.Duration]) {
		if d.OK {
			until(part, at+d.V)
		}
	}
	reached := func(part Part, d probe.Opt[time.Duration]) {
		if d.OK {
			until(part, d.V)
		}
	}
	took(DNS, r.Phases.DNS)
	took(Connect, r.Phases.Connect)
	took(TLS, r.Phases.TLS)
	reached(Headers, r.Phases.Headers)
	reached(FirstEvent, r.Phases.FirstEvent)
	reached(FirstToken, r.TTFT)
	switch {
	case r.Outcome.Failed():
		until(Failed, total)
	case r.TTFT.OK:
		until(Tokens, total)
	default:
		until(Rest, total)
	}
	return all
}
