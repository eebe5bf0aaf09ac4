package load

import (
	"fmt"
	"net/http"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// conversation is one conversation in progress. It receives the prober's events, learns from
// the results and passes the events to the sink. Only one goroutine uses it.
type conversation struct {
	*runner
	plan workload.Conversation
	// burst is true for a conversation that exists only because of a burst.
	burst bool
	claim *bound.Claim
	// estimate is the number of tokens taken from the budget, cost the number used so far.
	estimate, cost int
	// endAge ends the age of the turn in flight.
	endAge func(at time.Time, succeeded bool)
}

func (c *conversation) run(due time.Time) probe.Outcome {
	defer c.claim.Release()
	c.Sink.Observe(probe.ConversationStart(c.key))
	result := c.prober.Converse(c.turnsCtx, probe.Plan{
		Conversation: c.plan,
		ID:           fmt.Sprintf("%s/%d.%d", c.key, c.id, c.plan.ID),
		Scheduled:    due,
		Burst:        c.burst,
		Model:        *c.model.name.Load(),
		Stop:         c.startsCtx.Done(),
		Memory:       c.claim,
	}, c)
	c.budget.Settle(c.estimate, c.cost)
	c.Sink.Observe(result)
	return result.Outcome
}

func (c *conversation) Observe(e probe.Event) {
	switch e := e.(type) {
	case probe.FieldsLearned:
		c.Sink.Observe(e)
	case probe.Start:
		c.Sink.Observe(e)
		c.endAge = c.bursts.ages.Begin(time.Now())
	case probe.Result:
		c.endAge(time.Now(), e.Outcome == probe.Success)
		// The prompt tokens then include the tool definitions, whose share is unknown.
		if e.Turn == 1 && e.PromptTokens.OK && len(c.job.Workload.Tools) == 0 {
			c.source.Learn(c.plan.CharsOpening, e.PromptTokens.V)
		}
		if e.Status == http.StatusNotFound {
			select { // the deployment may serve another model now
			case c.model.refused <- struct{}{}:
			default: // a request is already pending
			}
		}
		c.cost += c.tokens(&e)
		c.Sink.Observe(e)
	}
}

// tokens returns what a turn costs the budget. An answer without a possible usage costs the estimate; a
// turn that failed before an answer costs nothing.
func (c *conversation) tokens(res *probe.Result) int {
	total := res.OutputTokens.V
	switch {
	case res.PromptTokens.OK:
		total += res.PromptTokens.V
	case res.UsageMissing || res.UsageImpossible != "":
		total += c.source.EstimatePrompt(c.plan, res.Turn)
	}
	return total
}
