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
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar/sink"
)

// Names of attributes and events, from version 1.41 of OpenTelemetry's conventions for
// generative AI if they define one.
const (
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

// about holds the attributes that all turns of a job share.
type about struct {
	operation  string
	attributes []attribute.KeyValue
}

// spoken returns the operation and provider of an API in the words of the conventions. The
// provider behind an API is unknown from outside.
func spoken(a target.API) (operation, provider string) {
	switch a {
	case target.Completions:
		return "text_completion", "openai"
	case target.Embeddings:
		return "embeddings", "openai"
	case target.Messages:
		return "chat", "anthropic"
	case target.Azure:
		return "chat", "azure.ai.openai"
	case target.Triton:
		return "text_completion", string(a)
	case target.Rerank:
		return "rerank", string(a)
	case target.Ollama:
		return "chat", string(a)
	}
	return "chat", "openai"
}

func ofJob(j sink.Job) about {
	operation, provider := spoken(j.Target.API)
	out := []attribute.KeyValue{
		attribute.String(attrOperation, operation), attribute.String(attrProvider, provider),
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
	return about{operation, out}
}

// ofTurn returns the attributes of one turn.
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

// turn exports the span of a turn, from its request to its end.
func (on *running) turn(r *probe.Result, job about) {
	parent := trace.ContextWithSpanContext(context.Background(), place(r.TraceID, r.ParentSpanID))
	_, span := on.tracer.Start(context.WithValue(parent, givenKey{}, place(r.TraceID, r.SpanID)), strings.TrimSpace(job.operation+" "+r.Model),
		trace.WithTimestamp(r.Sent), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(job.attributes...), trace.WithAttributes(ofTurn(r)...))
	at := func(name string, after probe.Opt[time.Duration]) {
		if after.OK {
			span.AddEvent(name, trace.WithTimestamp(r.Sent.Add(after.V)))
		}
	}
	at(eventFirstToken, r.TTFT)
	at(eventFirstText, r.AnswerTTFT)
	end(span, r.Outcome, r.End)
}

// conversation exports the span of a conversation, from its scheduled start to the end of its
// last turn.
func (on *running) conversation(c *probe.Conversation) {
	ctx := context.WithValue(context.Background(), givenKey{}, place(c.TraceID, c.SpanID))
	_, span := on.tracer.Start(ctx, "conversation "+c.Key().String(), trace.WithTimestamp(c.Scheduled), trace.WithAttributes(
		attribute.String(attrConversation, c.ID), attribute.String(attrTarget, c.Target), attribute.String(attrWorkload, c.Workload),
		attribute.Int(attrTurns, c.Turns), attribute.String(attrOutcome, string(c.Outcome))))
	end(span, c.Outcome, c.End)
}

// end closes a span. A turn that the prober itself ended is no error of the deployment.
func end(span trace.Span, o probe.Outcome, at time.Time) {
	if o.Failed() {
		span.SetStatus(codes.Error, string(o))
	}
	span.AddEvent(eventEnd, trace.WithTimestamp(at))
	span.End(trace.WithTimestamp(at))
}

// place returns the span context of hex ids.
func place(traceID, spanID string) trace.SpanContext {
	// Both ids are valid, because the prober made them.
	t, _ := trace.TraceIDFromHex(traceID)
	s, _ := trace.SpanIDFromHex(spanID)
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.FlagsSampled})
}
