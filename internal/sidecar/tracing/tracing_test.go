package tracing

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

// TestMain looks for goroutines that are left. Those of the SDK that drain the queue of an exporter whose time to stop has
// passed end by themselves.
func TestMain(m *testing.M) {
	const processor = "go.opentelemetry.io/otel/sdk/trace.(*batchSpanProcessor)"
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(processor+".drainQueue"), goleak.IgnoreAnyFunction(processor+".Shutdown.func1.1"),
		goleak.IgnoreAnyFunction("go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp.(*client).contextWithStop.func1"))
}

// receiver receives spans over OTLP. If answer returns true, it has answered the request instead.
type receiver struct {
	*httptest.Server
	answer func(http.ResponseWriter, *http.Request) bool

	mu    sync.Mutex
	spans []*otlp.Span
	bytes []byte
}

func receive(t *testing.T, answer func(http.ResponseWriter, *http.Request) bool) *receiver {
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.answer != nil && r.answer(w, req) {
			return
		}
		z, err := gzip.NewReader(req.Body)
		if err != nil || req.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", req.URL.Path, err)
			return
		}
		data, err := io.ReadAll(z)
		var in collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(data, &in) != nil {
			t.Errorf("no spans: %v", err)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bytes = append(r.bytes, data...)
		for _, rs := range in.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				r.spans = append(r.spans, ss.Spans...)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// traced returns a Tracer that sends to r.
func traced(t *testing.T, r *receiver, change ...func(*Options)) *Tracer {
	t.Helper()
	o := Options{
		URL: r.URL + "/v1/traces", Client: &http.Client{Transport: &http.Transport{}},
		Version: "1.2.3", Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&o)
	}
	tracer := &Tracer{}
	if err := tracer.Start(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tracer.Close)
	return tracer
}

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	rootID  = "b7ad6b7169203331"
	turnID  = "00f067aa0ba902b7"
)

// example returns a turn with all figures.
func example(sent time.Time) probe.Result {
	return probe.Result{
		Target: "a", Workload: "chat", Kind: probe.Followup,
		Sent: sent, End: sent.Add(3 * time.Second), Outcome: probe.Success,
		TTFT: probe.Some(time.Second), Err: "an error text",
		Asked:  probe.Asked{Model: "llama", Conversation: "a/chat/1.1", Turn: 2, TraceID: traceID, SpanID: turnID, ParentSpanID: rootID},
		Server: probe.Server{Status: 200},
		Timing: probe.Timing{Phases: probe.Phases{FirstEvent: probe.Some(500 * time.Millisecond)}, AnswerTTFT: probe.Some(2 * time.Second)},
		Tokens: probe.Tokens{PromptTokens: probe.Some(700), CachedTokens: probe.Some(600), OutputTokens: probe.Some(50)},
		Texts:  probe.Texts{FinishReason: "stop", Answer: "the secret answer"},
	}
}

func exampleJob() fleet.Job {
	var j fleet.Job
	j.Target.Name, j.Target.BaseURL, j.Workload.Name, j.Workload.MaxOutputTokens = "a", "https://llm.example.com/v1", "chat", 128
	return j
}

// shown is a span in a form that can be compared.
type shown struct {
	Name, ID, Parent, Status string
	Kind                     otlp.Span_SpanKind
	From, To                 time.Duration
	Attributes               map[string]string
	Events                   map[string]time.Duration
}

func show(s *otlp.Span, begin time.Time) shown {
	since := func(nanos uint64) time.Duration { return time.Unix(0, int64(nanos)).Sub(begin) }
	out := shown{
		Name: s.Name, ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId), Kind: s.Kind,
		Status: s.Status.GetMessage(), From: since(s.StartTimeUnixNano), To: since(s.EndTimeUnixNano),
		Attributes: map[string]string{}, Events: map[string]time.Duration{},
	}
	for _, a := range s.Attributes {
		_, text, _ := strings.Cut(strings.ReplaceAll(a.Value.String(), " ", ""), ":")
		out.Attributes[a.Key] = strings.Trim(text, `"`)
	}
	for _, e := range s.Events {
		out.Events[e.Name] = since(e.TimeUnixNano)
	}
	return out
}

// TestSpans checks what a receiver gets: spans of the turns inside of the span of their conversation,
// with the names of the conventions, and without texts.
func TestSpans(t *testing.T) {
	r := receive(t, nil)
	tracer := traced(t, r)
	tracer.Add(exampleJob())
	begin := time.Unix(1_800_000_000, 0)
	turn := example(begin.Add(time.Second))
	tracer.Observe(turn)
	failed := turn
	failed.Outcome, failed.SpanID, failed.Model, failed.Status = probe.Truncated, "00f067aa0ba902b8", "", 0
	failed.TTFT, failed.AnswerTTFT, failed.OutputTokens = probe.Opt[time.Duration]{}, probe.Opt[time.Duration]{}, probe.Opt[int]{}
	failed.PromptTokens, failed.CachedTokens, failed.Phases, failed.FinishReason = probe.Opt[int]{}, probe.Opt[int]{}, probe.Phases{}, ""
	tracer.Observe(failed)
	unmarked := turn
	unmarked.ParentSpanID = ""
	tracer.Observe(unmarked)
	conversation := probe.Conversation{
		Target: "a", Workload: "chat", ID: "a/chat/1.1", TraceID: traceID, SpanID: rootID,
		Scheduled: begin, End: begin.Add(4 * time.Second), Outcome: probe.Canceled, Turns: 2,
	}
	tracer.Observe(conversation)
	tracer.Remove(turn.Key())
	tracer.Close()

	common := map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.stream": "true", "gen_ai.request.max_tokens": "128",
		"server.address": "llm.example.com", "server.port": "443", "synthetic.target": "a", "synthetic.workload": "chat",
		"gen_ai.conversation.id": "a/chat/1.1", "synthetic.turn": "2",
	}
	with := func(more map[string]string) map[string]string {
		for k, v := range common {
			more[k] = v
		}
		return more
	}
	want := []shown{
		{"chat llama", turnID, rootID, "", otlp.Span_SPAN_KIND_CLIENT, time.Second, 4 * time.Second, with(map[string]string{
			"gen_ai.request.model": "llama", "synthetic.outcome": "success", "http.response.status_code": "200",
			"gen_ai.response.finish_reasons": `{values:{string_value:"stop"}}`, "gen_ai.response.time_to_first_chunk": "0.5",
			"gen_ai.usage.input_tokens": "700", "gen_ai.usage.cache_read.input_tokens": "600", "gen_ai.usage.output_tokens": "50",
		}), map[string]time.Duration{"synthetic.first_token": 2 * time.Second, "synthetic.first_answer_token": 3 * time.Second, "synthetic.end": 4 * time.Second}},
		{"chat", "00f067aa0ba902b8", rootID, "truncated", otlp.Span_SPAN_KIND_CLIENT, time.Second, 4 * time.Second, with(map[string]string{
			"gen_ai.request.model": "", "synthetic.outcome": "truncated", "error.type": "truncated",
		}), map[string]time.Duration{"synthetic.end": 4 * time.Second}},
		{"conversation a/chat", rootID, "", "", otlp.Span_SPAN_KIND_INTERNAL, 0, 4 * time.Second, map[string]string{
			"gen_ai.conversation.id": "a/chat/1.1", "synthetic.target": "a", "synthetic.workload": "chat", "synthetic.turns": "2", "synthetic.outcome": "canceled",
		}, map[string]time.Duration{"synthetic.end": 4 * time.Second}},
	}
	var got []shown
	for _, s := range r.spans {
		if hex.EncodeToString(s.TraceId) != traceID {
			t.Errorf("%s is in trace %x", s.Name, s.TraceId)
		}
		got = append(got, show(s, begin))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	for _, text := range []string{"secret", "error text"} {
		if bytes.Contains(r.bytes, []byte(text)) {
			t.Errorf("the spans have the text %q", text)
		}
	}
}

// TestRefusedSpansAreLogged checks that the log mentions lost spans, without the receiver's error.
func TestRefusedSpansAreLogged(t *testing.T) {
	var log bytes.Buffer
	r := receive(t, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "Bearer hunter2 is not known", http.StatusUnauthorized)
		return true
	})
	tracer := traced(t, r, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	tracer.Observe(example(time.Now()))
	tracer.Close()
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || strings.Contains(text, "hunter2") {
		t.Errorf("log:\n%s", text)
	}
}

// TestCloseDoesNotWait has a receiver that hangs.
func TestCloseDoesNotWait(t *testing.T) {
	hung := make(chan struct{})
	r := receive(t, func(_ http.ResponseWriter, req *http.Request) bool {
		_, _ = io.Copy(io.Discard, req.Body)
		<-hung
		return true
	})
	defer close(hung)
	tracer := traced(t, r)
	for range 5000 { // more than the queue holds
		tracer.Observe(example(time.Now()))
	}
	began := time.Now()
	tracer.Close()
	if took := time.Since(began); took > closeTimeout+2*time.Second { // less than exportTimeout
		t.Errorf("Close took %v", took)
	}
}

func TestTraced(t *testing.T) {
	var off Tracer
	if off.Traced() {
		t.Error("a tracer that is off exports conversations")
	}
	off.Observe(example(time.Now()))
	if !traced(t, receive(t, nil), func(*Options) {}).Traced() {
		t.Error("a tracer that exports does not mark conversations")
	}
}
