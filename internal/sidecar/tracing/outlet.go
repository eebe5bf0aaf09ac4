package tracing

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"synthetic/internal/bound"
)

// outlet wraps the exporter and counts its spans, because the library drops spans silently.
type outlet struct {
	sdktrace.SpanExporter
	room                       *bound.Budget
	exported, dropped, refused atomic.Uint64
	// life ends when spans are no longer waited for.
	life    context.Context
	logger  *slog.Logger
	failing bool // used by the exporting goroutine alone
}

// ExportSpans sends spans. A failed batch is lost: the exporter has already retried it.
func (o *outlet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	defer o.room.Return(int64(len(spans)))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.life, cancel)()
	err := o.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		o.exported.Add(uint64(len(spans)))
	} else {
		o.refused.Add(uint64(len(spans)))
	}
	if failing := err != nil; failing != o.failing {
		o.failing = failing
		o.say(failing)
	}
	return nil
}

// say logs without the receiver's text, which may repeat credentials.
func (o *outlet) say(failing bool) {
	if failing {
		o.logger.Warn("Spans are lost: the receiver of tracing.url cannot be reached or refuses them; look into its log")
		return
	}
	o.logger.Info("The receiver of tracing.url takes spans again")
}

// gate admits spans while the queue has room.
type gate struct {
	sdktrace.SpanProcessor
	out *outlet
}

// OnEnd never waits.
func (g gate) OnEnd(s sdktrace.ReadOnlySpan) {
	if !g.out.room.Take(1) {
		g.out.dropped.Add(1)
		return
	}
	g.SpanProcessor.OnEnd(s)
}

// given returns the ids in a span's context. They were sent in request headers before the span
// existed.
type given struct{}

type givenKey struct{}

// NewIDs implements sdktrace.IDGenerator.
func (g given) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	c, _ := ctx.Value(givenKey{}).(trace.SpanContext)
	return c.TraceID(), c.SpanID()
}

// NewSpanID implements sdktrace.IDGenerator.
func (g given) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, id := g.NewIDs(ctx)
	return id
}
