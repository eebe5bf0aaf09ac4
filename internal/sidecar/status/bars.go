package status

import (
	"time"

	"synthetic/internal/probe"
)

// Part is a part of a turn's time.
type Part string

// The parts in their order. The last three end a turn with tokens, a failed turn, and one that
// was canceled before its first token.
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

// Bar is one part of a turn. From and To are times since the turn was sent.
type Bar struct {
	Part     Part
	From, To time.Duration
}

// Bars returns the consecutive parts of a turn. A failed turn ends in the part in which it
// failed.
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
