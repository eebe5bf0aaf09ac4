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

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// Names of attributes and events: those of OpenTelemetry's conventions for
// generative AI, version 1.41, where there are any.
const (
	operation = "chat"

	attrOperation    = "gen_ai.operation.name"
	attrProvider     = "gen_ai.provider.name"
	attrConversation = "gen_ai.conversation.id"
	attrModel        = "gen_ai.request.model"
	attrMaxTokens    = "gen_ai.request.max_tokens"
	attrTemperature  = "gen_ai.request.temperature"
	attrStream       = "gen_ai.request.stream"
	attrFinish       = "gen_ai.response.finish_reasons"
	attrFirstChunk   = "gen_ai.response.time_to_first_chunk"
	attrInput        = "gen_ai.usage.input_tokens"
	attrCached       = "gen_ai.usage.cache_read.input_tokens"
	attrOutput       = "gen_ai.usage.output_tokens"
	attrServer       = "server.address"
	attrPort         = "server.port"
	attrStatus       = "http.response.status_code"
	attrError        = "error.type"

	attrTarget   = "synthetic.target"
	attrWorkload = "synthetic.workload"
	attrTurn     = "synthetic.turn"
	attrTurns    = "synthetic.turns"
	attrOutcome  = "synthetic.outcome"

	eventFirstToken = "synthetic.first_token"
	eventFirstText  = "synthetic.first_answer_token"
	eventEnd        = "synthetic.end"
)

// ofJob are the attributes that all turns of a job have.
func ofJob(j sink.Job) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String(attrOperation, operation),
		// What the API is, as far as one can know from outside.
		attribute.String(attrProvider, "openai"),
		attribute.Bool(attrStream, true),
		attribute.String(attrTarget, j.Target.Name), attribute.String(attrWorkload, j.Workload.Name),
	}
	if n := j.Workload.MaxOutputTokens; n > 0 {
		out = append(out, attribute.Int(attrMaxTokens, n))
	}
	if t := j.Workload.Temperature; t != nil {
		out = append(out, attribute.Float64(attrTemperature, *t))
	}
	if u, err := url.Parse(j.Target.BaseURL); err == nil {
		out = append(out, attribute.String(attrServer, u.Hostname()))
		if port, err := strconv.Atoi(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])); err == nil {
			out = append(out, attribute.Int(attrPort, port))
		}
	}
	return out
}

// ofTurn are those of one.
func ofTurn(r *probe.Result) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String(attrConversation, r.Conversation), attribute.String(attrModel, r.Model),
		attribute.Int(attrTurn, r.Turn), attribute.String(attrOutcome, string(r.Outcome)),
	}
	if r.Outcome.Failed() {
		out = append(out, attribute.String(attrError, string(r.Outcome)))
	}
	if r.Status > 0 {
		out = append(out, attribute.Int(attrStatus, r.Status))
	}
	if r.FinishReason != "" {
		out = append(out, attribute.StringSlice(attrFinish, []string{r.FinishReason}))
	}
	if e := r.Phases.FirstEvent; e.OK {
		out = append(out, attribute.Float64(attrFirstChunk, e.V.Seconds()))
	}
	for _, n := range []struct {
		name string
		of   probe.Opt[int]
	}{{attrInput, r.PromptTokens}, {attrCached, r.CachedTokens}, {attrOutput, r.OutputTokens}} {
		if n.of.OK {
			out = append(out, attribute.Int(n.name, n.of.V))
		}
	}
	return out
}

// turn exports the span of a turn, from sending it to its end.
func (on *running) turn(r *probe.Result, job []attribute.KeyValue) {
	parent := trace.ContextWithSpanContext(context.Background(), place(r.TraceID, r.ParentSpanID))
	_, span := on.tracer.Start(context.WithValue(parent, givenKey{}, place(r.TraceID, r.SpanID)), strings.TrimSpace(operation+" "+r.Model),
		trace.WithTimestamp(r.Sent), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(job...), trace.WithAttributes(ofTurn(r)...))
	at := func(name string, after probe.Opt[time.Duration]) {
		if after.OK {
			span.AddEvent(name, trace.WithTimestamp(r.Sent.Add(after.V)))
		}
	}
	at(eventFirstToken, r.TTFT)
	at(eventFirstText, r.AnswerTTFT)
	end(span, r.Outcome, r.End)
}

// conversation exports the span of a conversation, from when it was due to the
// end of its last turn.
func (on *running) conversation(c *probe.Conversation) {
	ctx := context.WithValue(context.Background(), givenKey{}, place(c.TraceID, c.SpanID))
	_, span := on.tracer.Start(ctx, "conversation "+c.Key().String(), trace.WithTimestamp(c.Scheduled), trace.WithAttributes(
		attribute.String(attrConversation, c.ID), attribute.String(attrTarget, c.Target), attribute.String(attrWorkload, c.Workload),
		attribute.Int(attrTurns, c.Turns), attribute.String(attrOutcome, string(c.Outcome))))
	end(span, c.Outcome, c.End)
}

// end closes a span. What the prober itself ended is no error of the deployment.
func end(span trace.Span, o probe.Outcome, at time.Time) {
	if o.Failed() {
		span.SetStatus(codes.Error, string(o))
	}
	span.AddEvent(eventEnd, trace.WithTimestamp(at))
	span.End(trace.WithTimestamp(at))
}

// place is where a span is, from hex digits.
func place(traceID, spanID string) trace.SpanContext {
	// Both are ours, and valid.
	t, _ := trace.TraceIDFromHex(traceID)
	s, _ := trace.SpanIDFromHex(spanID)
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.FlagsSampled})
}
