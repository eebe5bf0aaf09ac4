package tracing

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"synthetic/internal/bound"
)

// countingExporter counts the spans of an exporter. The library would drop spans silently.
type countingExporter struct {
	sdktrace.SpanExporter
	queue                      *bound.Budget
	exported, dropped, refused atomic.Uint64
	ctx                        context.Context // ends all exports
	logger                     *slog.Logger
	failing                    bool // used only by ExportSpans
}

// ExportSpans sends spans. If it fails, they are lost: the exporter has already retried.
func (e *countingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	defer e.queue.Return(int64(len(spans)))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	failing := e.SpanExporter.ExportSpans(ctx, spans) != nil
	count := &e.exported
	if failing {
		count = &e.refused
	}
	count.Add(uint64(len(spans)))
	switch { // the receiver's error is not logged, because it can repeat credentials
	case failing && !e.failing:
		e.logger.Warn("Spans are lost: the receiver of tracing.url cannot be reached or refuses them; check its log")
	case !failing && e.failing:
		e.logger.Info("The receiver of tracing.url accepts spans again")
	}
	e.failing = failing
	return nil
}

// queueLimit drops spans while the queue is full.
type queueLimit struct {
	sdktrace.SpanProcessor
	exporter *countingExporter
}

// OnEnd never waits.
func (q queueLimit) OnEnd(s sdktrace.ReadOnlySpan) {
	if !q.exporter.queue.Take(1) {
		q.exporter.dropped.Add(1)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// idsFromContext is an sdktrace.IDGenerator that returns the ids in a context. The request headers had
// them before the span existed.
type idsFromContext struct{}

type idsKey struct{}

func (g idsFromContext) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	c, _ := ctx.Value(idsKey{}).(trace.SpanContext)
	return c.TraceID(), c.SpanID()
}

func (g idsFromContext) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, id := g.NewIDs(ctx)
	return id
}
