package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"time"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/workload"
)

// comparableAnswer is the part of an answer that streaming must not change. It excludes the IDs of
// calls, which are random, and reasoning.
type comparableAnswer struct {
	text, finishReason string
	calls              []workload.ToolCall
}

// compare requests the answer of a turn again without streaming, for the share of turns that the
// workload wants. At temperature 0 both should be equal. If a deployment's arithmetic varies, they
// can differ; then a second answer without streaming also differs from the first. An answer that the
// token limit cut is not compared: servers that stream hold back the bytes of an unfinished
// character. The next turn is due after the comparison.
func (d *dialogue) compare(ctx context.Context, r *Result, sink Sink) {
	share := d.prober.opts.Workload.Compare
	if share == 0 || rand.Float64() >= share || r.FinishReason == finishLength || d.stopped() {
		return
	}
	c := Comparison{Target: r.Target, Workload: r.Workload, TraceID: r.TraceID, Verdict: Same}
	streamed := comparableAnswer{r.Answer, r.FinishReason, r.ToolCalls}
	err := d.untilStopped(ctx, func(ctx context.Context) error {
		first, err := d.fetchWhole(ctx, &c)
		if err != nil {
			return err
		}
		if c.Text = first.difference(streamed); c.Text == "" {
			return nil
		}
		second, err := d.fetchWhole(ctx, &c)
		if c.Verdict = Different; err == nil && second.difference(first) != "" {
			c.Verdict = Unsteady
		}
		return err
	})
	if err != nil {
		c.Verdict, c.Text = NoVerdict, errorText(err.Error())
	}
	d.lastEnd = time.Now()
	if ctx.Err() == nil && !d.stopped() {
		sink.Observe(c)
	}
}

// fetchWhole requests the answer to the history without streaming, and counts its tokens.
func (d *dialogue) fetchWhole(ctx context.Context, c *Comparison) (comparableAnswer, error) {
	if total := d.prober.opts.Workload.Timeouts.Total; total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, total)
		defer cancel()
	}
	req, err := d.request(ctx, d.prober.opts.Learned.limitField(), d.trace(&Result{}))
	var answer completion
	var limits limits
	if err == nil {
		err = stopStreaming(req)
	}
	if err == nil {
		limits = newLimits(d.maxOutputTokens(), int(req.ContentLength))
		var resp *http.Response
		if resp, err = fetchJSON(d.client, req, &answer, int64(limits.event), d.prober.opts.counter(ForComparison)); resp != nil {
			d.learnSession(resp.Header, req)
			d.session.hide(&d.prober.opts.Target, (&attempt{headers: resp.Header}).respondents(d.prober.opts.Target.Worker, ""))
		}
	}
	if err == nil {
		err = answer.check()
	}
	if err != nil {
		return comparableAnswer{}, err
	}
	first := answer.Choices[0]
	c.Tokens += limits.spent(answer.Usage, len(first.Message.Content))
	out := comparableAnswer{text: first.Message.Content, finishReason: stream.FinishReason(first.FinishReason)}
	for _, call := range first.Message.ToolCalls {
		out.calls = append(out.calls, workload.ToolCall{Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	return out, nil
}

// stopStreaming changes a request to one for an answer in one piece.
func stopStreaming(req *http.Request) error {
	fields := map[string]json.RawMessage{}
	if err := json.NewDecoder(req.Body).Decode(&fields); err != nil {
		return err
	}
	fields["stream"] = json.RawMessage("false")
	delete(fields, "stream_options")
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.ContentLength = int64(len(body))
	req.Header.Set("Accept", "application/json")
	req.Body, err = req.GetBody()
	return err
}

// difference names the parts in which two answers differ; "" if they are equal. White space
// around texts and the layout of arguments do not count.
func (a comparableAnswer) difference(other comparableAnswer) string {
	var parts []string
	if strings.TrimSpace(a.text) != strings.TrimSpace(other.text) {
		parts = append(parts, "text")
	}
	same := len(a.calls) == len(other.calls)
	for i := 0; same && i < len(a.calls); i++ {
		same = a.calls[i].Name == other.calls[i].Name && sameJSON(a.calls[i].Arguments, other.calls[i].Arguments)
	}
	if !same {
		parts = append(parts, "tool calls")
	}
	if a.finishReason != other.finishReason {
		parts = append(parts, "finish reason")
	}
	return strings.Join(parts, ", ")
}

func sameJSON(a, b string) bool {
	var x, y any
	return a == b ||
		json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
