package probe

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/workload"
)

// said is an answer as far as streaming must not change it. The ids of calls are
// drawn anew, and what was thought is nobody's answer.
type said struct {
	text, finish string
	calls        []workload.ToolCall
}

// compare asks for the answer of a turn once more, whole, for the share of turns
// that the workload wants. At temperature 0 the two should be one; where a
// deployment's own arithmetic makes two of them, a third answer tells: the odd one
// is the streamed one no more often than the second then, unless streaming is what
// changes answers. The next turn is due after it.
func (d *dialogue) compare(ctx context.Context, r *Result, sink Sink) {
	if share := d.p.opts.Workload.Compare; share == 0 || rand.Float64() >= share || d.stopped() {
		return
	}
	c := Comparison{Target: r.Target, Workload: r.Workload, TraceID: r.TraceID, Verdict: Same}
	streamed := said{r.Answer, r.FinishReason, r.ToolCalls}
	err := d.stoppable(ctx, func(ctx context.Context) error {
		first, err := d.whole(ctx, &c)
		if err != nil {
			return err
		}
		if c.Text = first.differs(streamed); c.Text == "" {
			return nil
		}
		second, err := d.whole(ctx, &c)
		if c.Verdict = Different; err == nil && second.differs(first) != "" {
			c.Verdict = Unsteady
		}
		return err
	})
	if err != nil {
		c.Verdict, c.Text = NoVerdict, err.Error()
	}
	d.lastEnd = time.Now()
	if ctx.Err() == nil && !d.stopped() {
		sink.Observe(c)
	}
}

func saidBy(choice openai.ChatCompletionChoice) said {
	out := said{text: choice.Message.Content, finish: stream.FinishReason(string(choice.FinishReason))}
	for _, call := range choice.Message.ToolCalls {
		out.calls = append(out.calls, workload.ToolCall{Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	return out
}

// differs says in which parts two answers differ, "" if in none. White space
// around a text is nothing, nor is how arguments are laid out.
func (s said) differs(other said) string {
	var parts []string
	if strings.TrimSpace(s.text) != strings.TrimSpace(other.text) {
		parts = append(parts, "text")
	}
	same := len(s.calls) == len(other.calls)
	for i := 0; same && i < len(s.calls); i++ {
		same = s.calls[i].Name == other.calls[i].Name && sameJSON(s.calls[i].Arguments, other.calls[i].Arguments)
	}
	if !same {
		parts = append(parts, "tool calls")
	}
	if s.finish != other.finish {
		parts = append(parts, "finish reason")
	}
	return strings.Join(parts, ", ")
}

// sameJSON reports whether two texts are equal, or the same value as JSON.
func sameJSON(a, b string) bool {
	var x, y any
	return a == b || json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
