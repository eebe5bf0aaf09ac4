// Package tracing exports conversations and turns as OpenTelemetry spans, over OTLP and HTTP.
// Spans carry figures, names and outcomes, and never the text of a prompt, an answer or an
// error.
//
// It is a sink and costs nothing until Start. Spans wait in a bounded queue. A span without
// room, or one that the receiver refuses, is lost and counted; probing never waits.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

const (
	// queued is the size of the queue: half an hour at one span a second.
	queued = 2048
	// patience bounds the export of the last spans at the end of the process.
	patience = 3 * time.Second
	// mostText bounds server texts such as a finish reason, in bytes.
	mostText = 256
)

// Options configure the export.
type Options struct {
	// URL is the receiver's URL with its path, such as "http://collector:4318/v1/traces".
	URL string
	// Client authenticates.
	Client *http.Client
	// Timeout bounds one request.
	Timeout time.Duration
	// Ratio is the share of conversations that are exported, with their turns.
	Ratio float64
	// Version is the version of this binary.
	Version string
	// Logger logs when the receiver begins to refuse spans and when it accepts them again.
	Logger *slog.Logger
}

// Tracer is a sink that exports spans after Start. The zero value exports nothing.
type Tracer struct {
	on atomic.Pointer[running]

	mu   sync.Mutex
	jobs map[probe.Key]about
}

// running is the state of a started Tracer.
type running struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	out      *outlet
	ratio    float64
	cut      context.CancelFunc
	client   *http.Client
}

// Start starts the export; Run or Close ends it. Call it before the first event.
func (t *Tracer) Start(o Options) error {
	exporter, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(o.URL), otlptracehttp.WithHTTPClient(o.Client), otlptracehttp.WithTimeout(o.Timeout),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		return fmt.Errorf("making the exporter of spans to %q: %w", o.URL, err)
	}
	whose, err := resource.New(context.Background(), resource.WithAttributes(
		attribute.String("service.name", "synthetic"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv()) // OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME
	if err != nil {
		return fmt.Errorf("reading the resource of spans from the environment: %w", err)
	}
	life, cut := context.WithCancel(context.Background())
	out := &outlet{SpanExporter: exporter, room: bound.NewBudget(queued), life: life, logger: o.Logger}
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = mostText
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(gate{sdktrace.NewBatchSpanProcessor(out, sdktrace.WithMaxQueueSize(queued), sdktrace.WithExportTimeout(o.Timeout)), out}),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // Traced has already sampled
		sdktrace.WithIDGenerator(given{}), sdktrace.WithResource(whose), sdktrace.WithRawSpanLimits(limits))
	t.on.Store(&running{provider, provider.Tracer("synthetic"), out, o.Ratio, cut, o.Client})
	return nil
}

// Traced decides at random whether the next conversation is exported.
func (t *Tracer) Traced() bool {
	on := t.on.Load()
	return on != nil && (on.ratio >= 1 || rand.Float64() < on.ratio)
}

// Run waits for ctx and then sends the remaining spans, within a few seconds.
func (t *Tracer) Run(ctx context.Context) error {
	<-ctx.Done()
	t.Close()
	return nil
}

// Close sends the remaining spans within a few seconds and ends the export.
func (t *Tracer) Close() {
	on := t.on.Swap(nil)
	if on == nil {
		return
	}
	defer time.AfterFunc(patience, on.cut).Stop()
	defer on.cut()
	defer on.client.CloseIdleConnections()
	// Shutdown waits for its goroutine. Lost spans are counted.
	_ = on.provider.Shutdown(context.Background())
}

// Counts are numbers of spans: sent, without room in the queue, and refused by the receiver.
type Counts struct{ Exported, Dropped, Refused uint64 }

// Counts returns false before Start.
func (t *Tracer) Counts() (c Counts, on bool) {
	is := t.on.Load()
	if is == nil {
		return c, false
	}
	return Counts{Exported: is.out.exported.Load(), Dropped: is.out.dropped.Load(), Refused: is.out.refused.Load()}, true
}

// Level returns the length and the size of the queue; 0 and 0 before Start.
func (t *Tracer) Level() (used, limit float64) {
	if is := t.on.Load(); is != nil {
		return is.out.room.Level()
	}
	return 0, 0
}

// Add implements sink.Sink.
func (t *Tracer) Add(j sink.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.jobs == nil {
		t.jobs = map[probe.Key]about{}
	}
	t.jobs[j.Key()] = ofJob(j)
}

// Remove implements sink.Sink.
func (t *Tracer) Remove(k probe.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, k)
}

// Observe implements sink.Sink.
func (t *Tracer) Observe(e probe.Event) {
	on := t.on.Load()
	if on == nil {
		return
	}
	switch e := e.(type) {
	case probe.Result:
		if e.SpanID != "" {
			on.turn(&e, t.about(e.Key()))
		}
	case probe.Conversation:
		if e.SpanID != "" {
			on.conversation(&e)
		}
	}
}

func (t *Tracer) about(k probe.Key) about {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.jobs[k]
}
