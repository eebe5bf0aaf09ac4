// Package tracing exports conversations and turns as OpenTelemetry spans, over OTLP and HTTP. Spans
// have figures, names and outcomes, but never the text of a prompt, an answer or an error.
//
// Spans wait in the SDK's bounded queue. If the queue is full or the receiver refuses a span, the span is
// lost. Probing never waits.
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

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

const (
	// exportTimeout bounds one export of spans, retries included.
	exportTimeout = 10 * time.Second
	// closeTimeout bounds the export of the last spans at the end of the process.
	closeTimeout = 3 * time.Second
	// logInterval is the time between two logs of lost spans.
	logInterval = time.Hour
	// maxText bounds server texts such as a finish reason, in bytes.
	maxText = 256
)

// Options configure the export.
type Options struct {
	// URL is the receiver's URL with its path, such as "http://collector:4318/v1/traces".
	URL string
	// Client adds the authentication.
	Client  *http.Client
	Version string // of this binary
	// Logger logs at most once an hour that spans are lost.
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
	client   *http.Client
}

// Start starts the export; Run or Close ends it. Call it before the first event.
func (t *Tracer) Start(o Options) error {
	otel.SetLogger(funcr.New(func(string, string) { // the library's own logger prints keys
		o.Logger.Warn("The exporter of spans ignores an environment variable: check the values of those that begin with OTEL_")
	}, funcr.Options{}))
	exporter, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(o.URL), otlptracehttp.WithHTTPClient(o.Client), otlptracehttp.WithTimeout(exportTimeout),
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
	var logged atomic.Int64
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) { // the error can repeat credentials
		last, now := logged.Load(), time.Now().UnixNano()
		if (last == 0 || now-last > int64(logInterval)) && logged.CompareAndSwap(last, now) {
			o.Logger.Warn("Spans are lost: the receiver of tracing.url cannot be reached or refuses them; check its log")
		}
	}))
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxText
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithExportTimeout(exportTimeout)),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // whatever the environment asks for
		sdktrace.WithIDGenerator(idsFromContext{}), sdktrace.WithResource(process), sdktrace.WithRawSpanLimits(limits))
	t.running.Store(&running{provider, provider.Tracer("synthetic"), o.Client})
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
	defer r.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = r.provider.Shutdown(ctx) // the error handler logs it
}

// Add implements fleet.Sink.
func (t *Tracer) Add(j fleet.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.jobs == nil {
		t.jobs = map[probe.Key]jobInfo{}
	}
	t.jobs[j.Key()] = newJobInfo(j)
}

// Remove implements fleet.Sink.
func (t *Tracer) Remove(k probe.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, k)
}

// Observe implements fleet.Sink.
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
