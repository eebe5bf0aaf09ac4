package tracing

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
)

// The attributes that do not start with "synthetic." are those of version 1.41 of OpenTelemetry's
// conventions.

type jobInfo struct {
	operation  string
	attributes []attribute.KeyValue
}

func newJobInfo(j fleet.Job) jobInfo {
	api := dialect.Of(j.Target.API)
	out := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", api.Operation), attribute.String("gen_ai.provider.name", api.Provider),
		attribute.Bool("gen_ai.request.stream", true),
		attribute.String("synthetic.target", j.Target.Name), attribute.String("synthetic.workload", j.Workload.Name),
	}
	if n := j.Workload.MaxOutputTokens; n > 0 {
		out = append(out, attribute.Int("gen_ai.request.max_tokens", n))
	}
	if t := j.Workload.Temperature; t != nil {
		out = append(out, attribute.Float64("gen_ai.request.temperature", *t))
	}
	if u, err := url.Parse(j.Target.BaseURL); err == nil {
		out = append(out, attribute.String("server.address", u.Hostname()))
		port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
		if port, err := strconv.Atoi(port); err == nil {
			out = append(out, attribute.Int("server.port", port))
		}
	}
	return jobInfo{api.Operation, out}
}

func turnAttributes(r *probe.Result) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String("gen_ai.conversation.id", r.Conversation), attribute.String("gen_ai.request.model", r.Model),
		attribute.Int("synthetic.turn", r.Turn), attribute.String("synthetic.outcome", string(r.Outcome)),
	}
	if r.Outcome.Failed() {
		out = append(out, attribute.String("error.type", string(r.Outcome)))
	}
	if r.Status > 0 {
		out = append(out, attribute.Int("http.response.status_code", r.Status))
	}
	if r.Recall.Result != "" {
		out = append(out, attribute.String("synthetic.recall", string(r.Recall.Result)),
			attribute.String("synthetic.recall.cached", r.Recall.CachedState()), attribute.String("synthetic.recall.depth", r.Recall.DepthClass()))
	}
	if r.FinishReason != "" {
		out = append(out, attribute.StringSlice("gen_ai.response.finish_reasons", []string{r.FinishReason}))
	}
	if first := r.Phases.FirstEvent; first.OK {
		out = append(out, attribute.Float64("gen_ai.response.time_to_first_chunk", first.V.Seconds()))
	}
	for _, usage := range []struct {
		name   string
		tokens probe.Opt[int]
	}{
		{"gen_ai.usage.input_tokens", r.PromptTokens},
		{"gen_ai.usage.cache_read.input_tokens", r.CachedTokens},
		{"gen_ai.usage.output_tokens", r.OutputTokens},
	} {
		if usage.tokens.OK {
			out = append(out, attribute.Int(usage.name, usage.tokens.V))
		}
	}
	return out
}

// exportTurn exports the span of a turn, from its request to its end.
func (r *running) exportTurn(turn *probe.Result, job jobInfo) {
	parent := trace.ContextWithSpanContext(context.Background(), spanContext(turn.TraceID, turn.ParentSpanID))
	ctx := context.WithValue(parent, idsKey{}, spanContext(turn.TraceID, turn.SpanID))
	_, span := r.tracer.Start(ctx, strings.TrimSpace(job.operation+" "+turn.Model),
		trace.WithTimestamp(turn.Sent), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(job.attributes...), trace.WithAttributes(turnAttributes(turn)...))
	addEvent := func(name string, after probe.Opt[time.Duration]) {
		if after.OK {
			span.AddEvent(name, trace.WithTimestamp(turn.Sent.Add(after.V)))
		}
	}
	addEvent("synthetic.first_token", turn.TTFT)
	addEvent("synthetic.first_answer_token", turn.AnswerTTFT)
	end(span, turn.Outcome, turn.End)
}

// exportConversation exports the span of a conversation, from its scheduled start to the end of its
// last turn.
func (r *running) exportConversation(c *probe.Conversation) {
	ctx := context.WithValue(context.Background(), idsKey{}, spanContext(c.TraceID, c.SpanID))
	_, span := r.tracer.Start(ctx, "conversation "+c.Key().String(),
		trace.WithTimestamp(c.Scheduled), trace.WithAttributes(
			attribute.String("gen_ai.conversation.id", c.ID),
			attribute.String("synthetic.target", c.Target), attribute.String("synthetic.workload", c.Workload),
			attribute.Int("synthetic.turns", c.Turns), attribute.String("synthetic.outcome", string(c.Outcome))))
	end(span, c.Outcome, c.End)
}

// end ends a span. A turn that the prober itself ended is not an error of the deployment.
func end(span trace.Span, o probe.Outcome, at time.Time) {
	if o.Failed() {
		span.SetStatus(codes.Error, string(o))
	}
	span.AddEvent("synthetic.end", trace.WithTimestamp(at))
	span.End(trace.WithTimestamp(at))
}

// spanContext returns the span context of two hexadecimal ids. They are valid, because the prober made
// them.
func spanContext(traceID, spanID string) trace.SpanContext {
	t, _ := trace.TraceIDFromHex(traceID)
	s, _ := trace.SpanIDFromHex(spanID)
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.FlagsSampled})
}
