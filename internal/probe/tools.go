package probe

import (
	"cmp"
	"fmt"

	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/workload"
)

const (
	// maxToolRounds is the number of consecutive answers whose tool calls get results. Some
	// models never stop calling tools.
	maxToolRounds = 8
	maxCalls      = 128
)

// calls collects the tool calls of an answer from the pieces of a stream.
type calls struct {
	all  []call
	size int // bytes of all texts
	ids  int // bytes of the IDs, which are not made of tokens
}

type call struct {
	index     int // as the server counts
	id, name  string
	arguments []byte
}

// add appends a piece to the last call with the same index. A piece with another ID begins a
// new call, because some servers do not count calls.
func (c *calls) add(piece *dialect.ToolCall) {
	at := len(c.all) - 1
	for at >= 0 && c.all[at].index != piece.Index {
		at--
	}
	if at < 0 || len(piece.ID) > 0 && c.all[at].id != "" && c.all[at].id != string(piece.ID) {
		if at = len(c.all); at == maxCalls {
			return
		}
		c.all = append(c.all, call{index: piece.Index})
	}
	current := &c.all[at]
	current.id = cmp.Or(current.id, string(piece.ID))
	current.name = cmp.Or(current.name, string(piece.Name))
	current.arguments = append(current.arguments, piece.Arguments...)
	c.size += len(piece.ID) + len(piece.Name) + len(piece.Arguments)
	c.ids += len(piece.ID)
}

func (c *calls) complete() []workload.ToolCall {
	var out []workload.ToolCall
	for _, call := range c.all {
		out = append(out, workload.ToolCall{ID: call.id, Name: call.name, Arguments: string(call.arguments)})
	}
	return out
}

// checkAnswer changes the outcome of an answer with invalid tool calls or content. The content
// check does not apply to tool calls. No check applies to a refusal, or to reasoning that the
// token limit cut.
func (d *dialogue) checkAnswer(r *Result) {
	p := d.prober
	if r.NoAnswer && len(r.ToolCalls) == 0 && (r.Refusal != "" || r.FinishReason == dialect.Length) {
		return
	}
	for i := range r.ToolCalls {
		r.ToolCalls[i].Arguments = cmp.Or(r.ToolCalls[i].Arguments, p.api.NoArguments)
	}
	a := answers.Answer{
		Text: r.Answer, Calls: r.ToolCalls, Cut: r.FinishReason == dialect.Length,
		ChoiceOmitted: d.history.messages[len(d.history.messages)-1].Role == workload.RoleTool,
	}
	outcome, err := ToolCallInvalid, p.contract.CheckCalls(a)
	if err == nil {
		outcome, err = SchemaMismatch, p.contract.CheckText(a)
	}
	if calledTools := len(p.opts.Workload.Tools) > 0 && len(r.ToolCalls) > 0; err == nil && !calledTools {
		outcome, err = ContentMismatch, p.checkContent(r.Answer)
	}
	if err != nil {
		r.Outcome, r.Err = outcome, err.Error()
	}
}

func (p *Prober) checkContent(answer string) error {
	if p.checkRegexp != nil && !p.checkRegexp.MatchString(answer) {
		return fmt.Errorf("the answer does not match %q", p.opts.Workload.Check)
	}
	return nil
}

// recordCalls adds an answer with tool calls to the history. It returns false for other answers,
// for calls that the token limit cut, and after maxToolRounds.
func (d *dialogue) recordCalls(r *Result) bool {
	hasCalls := len(d.prober.opts.Workload.Tools) > 0 && len(r.ToolCalls) > 0 && r.FinishReason != dialect.Length
	if !hasCalls || d.toolRounds == maxToolRounds {
		d.toolRounds = 0
		return false
	}
	m := workload.Message{Role: "assistant", Content: r.Answer, ToolCalls: r.ToolCalls}
	if r.NoAnswer {
		m.Content = "" // servers reject white space
	}
	d.addMessage(m, r)
	d.calls = r.ToolCalls
	d.toolRounds++
	return true
}

func (d *dialogue) answerCalls() {
	for _, call := range d.calls {
		m := workload.Message{Role: workload.RoleTool, ToolCallID: call.ID}
		for _, t := range d.prober.opts.Workload.Tools {
			if t.Name == call.Name {
				m.Content = t.Result
			}
		}
		d.history.add(m)
	}
	d.calls = nil
}
