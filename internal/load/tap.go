package load

import (
	"fmt"
	"net/http"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// turnGrace is how far a turn may exceed its total timeout before the prober
// itself is taken for stuck.
const turnGrace = 30 * time.Second

// tap is a conversation while it is held. It sits between the prober and the
// sink, learns from the results and sees to it that nobody gets stuck
// unnoticed. It is used by the goroutine of its conversation alone.
type tap struct {
	*runner
	plan workload.Conversation
	// extra says that it belongs to a burst.
	extra bool
	room  *bound.Claim
	// estimate was taken from the budget, cost is the number of tokens used.
	estimate, cost int
	// turnOver ends the watch of the turn in flight; nil without a timeout.
	turnOver func()
}

func (t *tap) hold(due time.Time) probe.Outcome {
	defer t.room.Release()
	t.report("a conversation's start", probe.ConversationStart(t.key))
	over := t.prober.Converse(t.hard, probe.Plan{
		Conversation: t.plan,
		ID:           fmt.Sprintf("%s/%d.%d", t.key, t.id, t.plan.ID),
		Scheduled:    due,
		Burst:        t.extra,
		Model:        *t.model.known.Load(),
		Stop:         t.soft.Done(),
		Room:         t.room,
	}, t)
	t.budget.Settle(t.estimate, t.cost)
	t.report("a conversation's end", over)
	return over.Outcome
}

// Observe passes on what happens, after what can be learned from it.
func (t *tap) Observe(e probe.Event) {
	switch e := e.(type) {
	case probe.LimitLearned:
		t.report("what a target calls its limit", e)
	case probe.Start:
		t.report("a turn's start", e)
		if total := t.job.Workload.Timeouts.Total; total > 0 {
			t.turnOver = t.watch.expect("the end of a turn past its total timeout", total+turnGrace)
		}
	case probe.Result:
		if t.turnOver != nil {
			t.turnOver()
		}
		// Tools, too, are tokens of the prompt, and how many nobody says.
		if e.Turn == 1 && e.PromptTokens.OK && len(t.job.Workload.Tools) == 0 {
			t.source.Learn(t.plan.CharsOpening, e.PromptTokens.V)
		}
		if e.Status == http.StatusNotFound {
			select { // it may serve another by now
			case t.model.missing <- struct{}{}:
			default: // it was said already
			}
		}
		t.cost += t.tokens(e)
		t.report("a turn's result", e)
	case probe.Comparison:
		t.cost += e.Tokens
		t.report("a comparison", e)
	}
}

// tokens is what a turn cost the budget. A turn that got an answer but no
// usage counts as estimated; a turn that failed before costs nothing.
func (t *tap) tokens(res probe.Result) int {
	n := res.OutputTokens.V
	switch {
	case res.PromptTokens.OK:
		n += res.PromptTokens.V
	case res.UsageMissing:
		n += t.source.EstimatePrompt(t.plan, res.Turn)
	}
	return n
}
