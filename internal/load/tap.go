package load

import (
	"net/http"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// turnGrace is how far a turn may exceed its total timeout before the prober
// itself is taken for stuck.
const turnGrace = 30 * time.Second

// tap sits between a conversation and the sink: it learns from the results
// and sees to it that nobody gets stuck unnoticed. It is used by the
// goroutine of its conversation alone.
type tap struct {
	runner *runner
	plan   workload.Conversation
	// cost is the number of tokens used so far.
	cost int
	// turn is the watched turn in flight, 0 for none.
	turn uint64
}

// Observe passes on what happens, after what can be learned from it.
func (t *tap) Observe(e probe.Event) {
	switch e := e.(type) {
	case probe.Start:
		t.turnStarted(e)
	case probe.Result:
		t.turnEnded(e)
	}
}

func (t *tap) turnStarted(s probe.Start) {
	t.runner.report("a turn's start", s)
	if total := t.runner.job.Workload.Timeouts.Total; total > 0 {
		t.turn = t.runner.watch.expect("the end of a turn past its total timeout", time.Now().Add(total+turnGrace))
	}
}

func (t *tap) turnEnded(res probe.Result) {
	t.close()
	if res.Turn == 1 && res.PromptTokens.OK {
		t.runner.source.Learn(t.plan.CharsOpening, res.PromptTokens.V)
	}
	if res.Status == http.StatusNotFound {
		t.runner.model.doubt()
	}
	t.cost += t.tokens(res)
	t.runner.report("a turn's result", res)
}

// close ends the watch of the turn in flight.
func (t *tap) close() {
	t.runner.watch.settle(t.turn)
	t.turn = 0
}

// tokens is what a turn cost the budget. A turn that got an answer but no
// usage counts as estimated; a turn that failed before costs nothing.
func (t *tap) tokens(res probe.Result) int {
	n := res.OutputTokens.V
	switch {
	case res.PromptTokens.OK:
		n += res.PromptTokens.V
	case res.UsageMissing:
		n += t.runner.source.EstimatePrompt(t.plan, res.Turn)
	}
	return n
}
