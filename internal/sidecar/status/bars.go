package status

import (
	"time"

	"synthetic/internal/probe"
)

// bar is one part of a turn. X and Width are percents of the turn's duration.
type bar struct {
	X, Width float64
	Part     string // what the part is, also its CSS class
	Text     string // what it is called and how long it took
}

// bars returns the parts of a turn one after the other, from its sending to
// its end. A turn that failed ends in the part that it never came out of.
func bars(r probe.Result) []bar {
	total := r.Duration()
	if total <= 0 {
		return nil
	}
	var out []bar
	var at time.Duration
	until := func(end time.Duration, part, name string) {
		if end = min(end, total); end < at {
			return
		}
		out = append(out, bar{
			X: percent(float64(at) / float64(total)), Width: percent(float64(end-at) / float64(total)),
			Part: part, Text: name + " " + short(end-at),
		})
		at = end
	}
	took := func(d probe.Opt[time.Duration], part, name string) {
		if d.OK {
			until(at+d.V, part, name)
		}
	}
	reached := func(d probe.Opt[time.Duration], part, name string) {
		if d.OK {
			until(d.V, part, name)
		}
	}
	took(r.Phases.DNS, "dns", "DNS")
	took(r.Phases.Connect, "connect", "connect")
	took(r.Phases.TLS, "tls", "TLS")
	reached(r.Phases.Headers, "headers", "headers")
	reached(r.Phases.FirstEvent, "event", "first event")
	reached(r.TTFT, "token", "first token")
	switch {
	case r.Outcome.Failed():
		until(total, "failed", "until "+string(r.Outcome))
	case r.TTFT.OK:
		until(total, "tokens", "tokens")
	default:
		until(total, "rest", "until the end")
	}
	return out
}
