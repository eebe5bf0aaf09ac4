// Package tracing exports what conversations and turns were like as spans of
// OpenTelemetry, to an OTLP receiver over HTTP. They carry figures, names and
// outcomes; never a text of a prompt, an answer or an error.
//
// It is a sink like any other, and costs nothing until it is switched on. Spans
// wait in a bounded queue: what has no room there, or what the receiver does not
// take, is lost and counted, and probing never waits.
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
	// queued is how many spans wait at most: half an hour of one a second.
	queued = 2048
	// patience bounds how long the last spans may take when the process ends.
	patience = 3 * time.Second
	// mostText bounds what a server says of itself, such as a finish reason, in
	// bytes.
	mostText = 256
)

// Options say where spans go.
type Options struct {
	// URL is that of the receiver, with the path of its operation, for example
	// "http://collector:4318/v1/traces".
	URL string
	// Client sends them, with authentication and TLS.
	Client *http.Client
	// Timeout bounds one request.
	Timeout time.Duration
	// Ratio of conversations is exported, with their turns.
	Ratio float64
	// Version is that of this binary.
	Version string
	// Logger is told when the receiver begins to refuse, and when it takes again.
	Logger *slog.Logger
}

// Tracer is a sink that exports spans once it is switched on by Start. The zero
// value is switched off.
type Tracer struct {
	on atomic.Pointer[running]

	mu   sync.Mutex
	jobs map[probe.Key]about
}

// running is what there is of a Tracer that is switched on.
type running struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	out      *outlet
	ratio    float64
	cut      context.CancelFunc
	client   *http.Client
}

// Start switches the tracer on; Run, or Close, switches it off. It is called
// before the first event.
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
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // who is exported was decided before
		sdktrace.WithIDGenerator(given{}), sdktrace.WithResource(whose), sdktrace.WithRawSpanLimits(limits))
	t.on.Store(&running{provider, provider.Tracer("synthetic"), out, o.Ratio, cut, o.Client})
	return nil
}

// Traced draws whether the next conversation is exported.
func (t *Tracer) Traced() bool {
	on := t.on.Load()
	return on != nil && (on.ratio >= 1 || rand.Float64() < on.ratio)
}

// Run waits for ctx, then sends what is left for a few seconds at most.
func (t *Tracer) Run(ctx context.Context) error {
	<-ctx.Done()
	t.Close()
	return nil
}

// Close sends what is left, for a few seconds at most, and switches off.
func (t *Tracer) Close() {
	on := t.on.Swap(nil)
	if on == nil {
		return
	}
	defer time.AfterFunc(patience, on.cut).Stop()
	defer on.cut()
	defer on.client.CloseIdleConnections()
	// It waits for its goroutine; what was lost is counted.
	_ = on.provider.Shutdown(context.Background())
}

// Counts are spans: sent, without room in the queue, and not taken by the receiver.
type Counts struct{ Exported, Dropped, Refused uint64 }

// Counts returns false while the tracer is switched off.
func (t *Tracer) Counts() (c Counts, on bool) {
	is := t.on.Load()
	if is == nil {
		return c, false
	}
	return Counts{Exported: is.out.exported.Load(), Dropped: is.out.dropped.Load(), Refused: is.out.refused.Load()}, true
}

// Level is how many spans wait, and how many may; 0 of 0 while switched off.
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
