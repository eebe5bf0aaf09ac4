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
	// Conversation, Turn, TraceID and Sent are those of the turn, SpanID is that of the twin.
	Conversation    string
	Turn            int
	TraceID, SpanID string
	Sent            time.Time
	// Cached is the result of the turn, Cold that of the twin. Cold is "" if the twin failed, or if a cache
	// served it nevertheless.
	Cached, Cold recall.Result
	// PromptTokens and OutputTokens were used for the twin; 0 if unknown.
	PromptTokens, OutputTokens int
}

func (t Twin) Key() Key { return Key{t.Target, t.Workload} }

// getsTwin decides before a turn whether it gets a twin, so that the decision does not depend on its answer.
func (d *dialogue) getsTwin() bool {
	return d.plan.TwinShare != nil && rand.Float64() < d.plan.TwinShare()
}

// askTwin asks the question of a judged turn again, after a history whose first line is new. A prefix cache serves
// nothing behind a new first line, also that of an engine or gateway that does not know cache_salt. The pause before
// the next turn includes the time of the twin.
func (d *dialogue) askTwin(ctx context.Context, r *Result, sink Sink) {
	if !r.Recall.IsOwn() || d.stopped() {
		return
	}
	t := Twin{
		Target: r.Target, Workload: r.Workload, Conversation: r.Conversation, Turn: r.Turn, TraceID: r.TraceID, Sent: r.Sent, Cached: r.Recall.Result,
	}
	cold := Result{Turn: r.Turn, Kind: r.Kind, Model: r.Model}
	history := d.history
	d.history = slices.Clone(history)
	d.history[0].Content = fmt.Sprintf("Log %016x.\n\n", rand.Uint64()) + d.history[0].Content
	err := d.untilStopped(ctx, func(ctx context.Context) error {
		a, err := d.send(ctx, &cold)
		if err != nil {
			return err
		}
		if a.trace.Sent() {
			d.prober.opts.counter(ForTwin)()
		}
		a.fill(&cold)
		d.session.hide(&d.prober.opts.Target, a.respondents(d.prober.opts.Target.Worker, ""))
		return nil
	})
	if err == nil && cold.Outcome == Success {
		d.judgeRecall(&cold)
	}
	d.history = history
	d.drained = max(d.drained, time.Since(d.lastEnd))
	if ctx.Err() != nil || d.stopped() {
		return
	}
	if cold.Recall.CachedState() != "yes" {
		t.Cold = cold.Recall.Result
	}
	t.SpanID, t.PromptTokens, t.OutputTokens = cold.SpanID, cold.PromptTokens.V, cold.OutputTokens.V
	sink.Observe(t)
}
