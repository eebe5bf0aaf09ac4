//go:build linux

package main

import (
	"context"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// wholeProbe is the product itself: a conversation of one turn whose answer
// never ends. A turn is reported when it is over, so its events are noted then;
// the server's stamps are the answer's text, and all of one length.
func wholeProbe() mode {
	return func(ctx context.Context, url string, note noter) error {
		base := url[:len(url)-len("/chat/completions")]
		p, err := probe.New(probe.Options{
			Target:   target.Target{BaseURL: base, Connection: target.PerConversation},
			Workload: workload.Spec{Timeouts: workload.Timeouts{FirstToken: time.Minute, Stall: time.Minute, Total: time.Hour}},
		})
		if err != nil {
			return err
		}
		defer p.Close()
		plan := probe.Plan{
			Conversation: workload.Conversation{Turns: 1, Opening: []workload.Message{{Role: "user", Content: "go"}}},
			Scheduled:    time.Now(), Model: "m",
		}
		p.Converse(ctx, plan, replay{note})
		return ctx.Err()
	}
}

// replay notes the events of a turn that is over.
type replay struct{ note noter }

// Observe takes a turn's start for the stream's beginning: the warm-up covers
// the time to its first event.
func (r replay) Observe(e probe.Event) {
	turn, ended := e.(probe.Result)
	if !ended {
		r.note(nil, time.Now())
		return
	}
	if !turn.TTFT.OK {
		return
	}
	at := turn.Sent.Add(turn.TTFT.V)
	for i := 0; (i+1)*stampSize <= len(turn.Answer); i++ {
		if i > 0 {
			at = at.Add(turn.Gaps[i-1])
		}
		r.note([]byte(turn.Answer[i*stampSize:(i+1)*stampSize]), at)
	}
}
