// Package tracing exports conversations and turns as OpenTelemetry spans, over OTLP and HTTP. Spans
// have figures, names and outcomes, but never the text of a prompt, an answer or an error.
//
// Spans wait in a bounded queue. If the queue is full or the receiver refuses a span, the span is lost
// and counted. Probing never waits.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel"
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
	// queueSize is half an hour at one span a second.
	queueSize = 2048
	// closeTimeout bounds the export of the last spans at the end of the process.
	closeTimeout = 3 * time.Second
	// maxText bounds server texts such as a finish reason, in bytes.
	maxText = 256
)

// Options configure the export.
type Options struct {
	// URL is the receiver's URL with its path, such as "http://collector:4318/v1/traces".
	URL string
	// Client adds the authentication.
	Client *http.Client
	// Timeout bounds one request.
	Timeout time.Duration
	Version string // of this binary
	// Logger logs when the receiver begins to refuse spans and when it accepts them again.
	Logger *slog.Logger
}

// Tracer is a sink that exports spans after Start. The zero value exports nothing.
type Tracer struct {
	running atomic.Pointer[running]

	mu   sync.Mutex
	jobs map[probe.Key]jobInfo
}

type running struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	exporter *countingExporter
	cancel   context.CancelFunc // ends the export
	client   *http.Client
}

// Start starts the export; Run or Close ends it. Call it before the first event.
func (t *Tracer) Start(o Options) error {
	otel.SetLogger(funcr.New(func(string, string) { // the library's own logger prints keys
		o.Logger.Warn("The exporter of spans ignores an environment variable: check the values of those that begin with OTEL_")
	}, funcr.Options{}))
	exporter, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(o.URL), otlptracehttp.WithHTTPClient(o.Client), otlptracehttp.WithTimeout(o.Timeout),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		return fmt.Errorf("making the exporter of spans to %q: %w", o.URL, err)
	}
	process, err := resource.New(context.Background(), resource.WithAttributes(
		attribute.String("service.name", "synthetic"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv()) // OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME
	if err != nil {
		return fmt.Errorf("reading the resource of spans from the environment: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	counting := &countingExporter{SpanExporter: exporter, queue: bound.NewBudget(queueSize), ctx: ctx, logger: o.Logger}
	batches := sdktrace.NewBatchSpanProcessor(counting,
		sdktrace.WithMaxQueueSize(queueSize), sdktrace.WithExportTimeout(o.Timeout))
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxText
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(queueLimit{batches, counting}),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // whatever the environment asks for
		sdktrace.WithIDGenerator(idsFromContext{}), sdktrace.WithResource(process), sdktrace.WithRawSpanLimits(limits))
	t.running.Store(&running{provider, provider.Tracer("synthetic"), counting, cancel, o.Client})
	return nil
}

// Traced reports whether conversations are exported.
func (t *Tracer) Traced() bool { return t.running.Load() != nil }

// Run waits for ctx and then sends the remaining spans, within a few seconds.
func (t *Tracer) Run(ctx context.Context) error {
	<-ctx.Done()
	t.Close()
	return nil
}

// Close sends the remaining spans within a few seconds and ends the export.
func (t *Tracer) Close() {
	r := t.running.Swap(nil)
	if r == nil {
		return
	}
	defer time.AfterFunc(closeTimeout, r.cancel).Stop()
	defer r.cancel()
	defer r.client.CloseIdleConnections()
	_ = r.provider.Shutdown(context.Background()) // lost spans are counted
}

// Counts are numbers of spans: sent, lost because the queue was full, and refused by the receiver.
type Counts struct{ Exported, Dropped, Refused uint64 }

// Counts returns false before Start.
func (t *Tracer) Counts() (Counts, bool) {
	r := t.running.Load()
	if r == nil {
		return Counts{}, false
	}
	e := r.exporter
	return Counts{Exported: e.exported.Load(), Dropped: e.dropped.Load(), Refused: e.refused.Load()}, true
}

// Level returns the length and the size of the queue; 0 and 0 before Start.
func (t *Tracer) Level() (used, limit float64) {
	if r := t.running.Load(); r != nil {
		return r.exporter.queue.Level()
	}
	return 0, 0
}

// Add implements sink.Sink.
func (t *Tracer) Add(j sink.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.jobs == nil {
		t.jobs = map[probe.Key]jobInfo{}
	}
	t.jobs[j.Key()] = newJobInfo(j)
}

// Remove implements sink.Sink.
func (t *Tracer) Remove(k probe.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, k)
}

// Observe implements sink.Sink.
func (t *Tracer) Observe(e probe.Event) {
	r := t.running.Load()
	if r == nil {
		return
	}
	switch e := e.(type) {
	case probe.Result:
		if e.ParentSpanID != "" {
			t.mu.Lock()
			job := t.jobs[e.Key()]
			t.mu.Unlock()
			r.exportTurn(&e, job)
		}
	case probe.Conversation:
		if e.SpanID != "" {
			r.exportConversation(&e)
		}
	}
}
