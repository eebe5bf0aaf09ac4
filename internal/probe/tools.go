package probe

import (
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// mostRounds is how many answers in a row may call tools and get the results. A
// model that goes on for longer than that does not come to an end.
const mostRounds = 8

// judge holds a whole answer to what was asked for. A call says nothing that the
// check of the content could be about, nor does a refusal, or reasoning that the
// limit of tokens cut.
func (d *dialogue) judge(r *Result, scrub scrubber) {
	p := d.p
	if r.NoAnswer && len(r.ToolCalls) == 0 && (r.Refusal != "" || r.FinishReason == finishLength) {
		return
	}
	if p.opts.Target.API == target.Messages {
		fillArguments(r.ToolCalls)
	}
	a := answers.Answer{
		Text: r.Answer, Calls: r.ToolCalls, Cut: r.FinishReason == finishLength,
		Anonymous: p.opts.Target.API == target.Ollama,
		Free:      d.history[len(d.history)-1].Role == workload.RoleTool,
	}
	outcome, err := ToolCallInvalid, p.contract.Calls(a)
	if err == nil {
		outcome, err = SchemaMismatch, p.contract.Text(a)
	}
	if called := len(p.opts.Workload.Tools) > 0 && len(r.ToolCalls) > 0; err == nil && !called {
		outcome, err = ContentMismatch, p.accept(r.Answer)
	}
	if err != nil {
		r.Outcome, r.Err = outcome, scrub.clean(err.Error())
	}
}

// fillArguments writes the arguments of calls without any as the object that they
// are: an API whose calls begin with an empty one has no piece for it.
func fillArguments(calls []workload.ToolCall) {
	for i := range calls {
		if calls[i].Arguments == "" {
			calls[i].Arguments = "{}"
		}
	}
}

// called adds an answer that calls tools to the history, and reports false if it
// does not: calls that the limit of tokens cut cannot be carried out.
func (d *dialogue) called(r Result) bool {
	if len(d.p.opts.Workload.Tools) == 0 || len(r.ToolCalls) == 0 || r.FinishReason == finishLength || d.rounds == mostRounds {
		d.rounds = 0
		return false
	}
	m := workload.Message{Role: "assistant", Content: r.Answer, ToolCalls: r.ToolCalls}
	if r.NoAnswer {
		m.Content = "" // a text of white space is refused
	}
	d.echo(&m, r)
	d.history = append(d.history, m)
	d.added += m.Size()
	d.calls = r.ToolCalls
	d.rounds++
	return true
}

// answerCalls adds the results of the calls to the history.
func (d *dialogue) answerCalls() {
	for _, call := range d.calls {
		m := workload.Message{Role: workload.RoleTool, ToolCallID: call.ID}
		for _, t := range d.p.opts.Workload.Tools {
			if t.Name == call.Name {
				m.Content = t.Result
			}
		}
		d.history = append(d.history, m)
		d.added += m.Size()
	}
	d.calls = nil
}
