package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"synthetic/internal/probe/answers/recall"
)

// Twin is the answer to the history of a turn that was sent a second time, so that no cache could serve it. Nothing of
// it is timed.
type Twin struct {
	Target, Workload string
	// Conversation, Turn, TraceID and Sent identify the turn, SpanID the twin.
	Conversation    string
	Turn            int
	TraceID, SpanID string
	Sent            time.Time
	// Cached is the result of the turn, Cold that of the twin. Cold is "" if the twin failed, or if a cache
	// served it nevertheless.
	Cached, Cold recall.Result
	// PromptTokens and OutputTokens were used for the twin. PromptTokens is estimated if the server reported no
	// usage. Both are 0 if the twin failed before an answer.
	PromptTokens, OutputTokens int
}

func (t Twin) Key() Key { return Key{t.Target, t.Workload} }

// twinTurn is a judged turn that gets a twin.
type twinTurn struct {
	Twin
	kind  TurnKind
	model string
	// messages and userMessages are the length of the history at the turn, and the user's messages in it.
	messages, userMessages int
}

// getsTwin decides before a turn whether it gets a twin, so that the decision does not depend on its answer.
func (d *dialogue) getsTwin() bool {
	return d.plan.TwinShare != nil && rand.Float64() < d.plan.TwinShare()
}

// noteTwin remembers a judged turn that gets a twin.
func (d *dialogue) noteTwin(r *Result) {
	if !r.Recall.IsOwn() {
		return
	}
	d.twinTurns = append(d.twinTurns, twinTurn{
		Twin: Twin{
			Target: r.Target, Workload: r.Workload, Conversation: r.Conversation, Turn: r.Turn, TraceID: r.TraceID, Sent: r.Sent, Cached: r.Recall.Result,
		},
		kind: r.Kind, model: r.Model, messages: len(d.history), userMessages: d.userMessages,
	})
}

// askTwins asks for the twins after the last turn of a conversation. Before it, they could push the conversation out of
// the prefix cache, so that its next turn would be slow. After a failed turn there are none: they could add to an
// overload.
func (d *dialogue) askTwins(ctx context.Context, sink Sink) {
	if d.result.Outcome != Success {
		return
	}
	d.result.SpanID = "" // twins have no spans, so the deployment need not record its part
	for i := range d.twinTurns {
		if d.stopped() || ctx.Err() != nil {
			return
		}
		d.askTwin(ctx, &d.twinTurns[i], sink)
	}
}

// askTwin asks the question of a judged turn again, after a history whose first line is new. A prefix cache serves
// nothing behind a new first line, also that of an engine or gateway that does not know cache_salt.
func (d *dialogue) askTwin(ctx context.Context, turn *twinTurn, sink Sink) {
	t := turn.Twin
	cold := Result{Target: t.Target, Workload: t.Workload, Conversation: t.Conversation, Turn: t.Turn, Kind: turn.kind, Model: turn.model, Scheduled: time.Now()}
	history, foreign := d.history, d.foreign
	defer func() { d.history, d.foreign = history, foreign }()
	d.history, d.userMessages = slices.Clone(history[:turn.messages]), turn.userMessages
	d.history[0].Content = fmt.Sprintf("Log %016x.\n\n", rand.Uint64()) + d.history[0].Content
	var a *attempt
	sent := false
	err := d.untilStopped(ctx, func(ctx context.Context) error {
		var err error
		if a, err = d.send(ctx, &cold); err != nil {
			return err
		}
		if sent = a.trace.Sent(); sent {
			d.prober.opts.counter(ForTwin)()
		}
		a.fill(&cold)
		d.fillRespondent(&cold, a)
		d.session.hide(&d.prober.opts.Target, a.respondents(d.prober.opts.Target.Worker, cold.Gateway.Backend))
		return nil
	})
	if err != nil || !sent {
		return
	}
	if cold.Outcome == Success {
		d.judgeRecall(&cold)
		d.reportWrong(&cold, a, true, sink)
	}
	if cold.Recall.CachedState() != "yes" {
		t.Cold = cold.Recall.Result
	}
	t.SpanID, t.PromptTokens, t.OutputTokens = cold.SpanID, cold.PromptTokens.V, cold.OutputTokens.V
	if isUsageUnknown := cold.UsageMissing || cold.UsageImpossible != "" || cold.Outcome.Canceled(); isUsageUnknown && !cold.PromptTokens.OK {
		t.PromptTokens = d.promptEstimate()
	}
	sink.Observe(t)
}
