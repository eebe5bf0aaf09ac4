package main

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestTracing: each sampled request has a span with the ids of its headers, inside the span
// of its conversation. The last spans are sent before the process ends.
func TestTracing(t *testing.T) {
	var mu sync.Mutex
	sent, spans, parents := map[string]bool{}, map[string]bool{}, map[string]int{}
	d, _ := fastDeployment(t)
	deployment := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.Header.Get("Traceparent"); p != "" {
			mu.Lock()
			sent[p] = true
			mu.Unlock()
		}
		d.ServeHTTP(w, r)
	}))
	defer deployment.Close()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var in collector.ExportTraceServiceRequest
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		data, err := io.ReadAll(z)
		if err != nil || proto.Unmarshal(data, &in) != nil {
			t.Error("no spans", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, rs := range in.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					spans["00-"+hex.EncodeToString(s.TraceId)+"-"+hex.EncodeToString(s.SpanId)+"-01"] = true
					parents[hex.EncodeToString(s.ParentSpanId)]++
				}
			}
		}
	}))
	defer receiver.Close()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	write := func(more string) {
		text := fmt.Sprintf("targets: [{name: a, base_url: %q}]\ntraffic: [{arrival: {process: closed, concurrency: 2}}]\nworkloads: [{name: chat, think_time: {max: 0s}}]\n%s", deployment.URL, more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf("tracing: {url: %q}\n", receiver.URL))
	p := sidecarRun(t, file, "--web.enable-lifecycle")
	p.until("finished conversation", func(s map[string]float64) bool {
		n, _ := sum(s, "synthetic_conversations_total")
		return n >= 2
	})
	write("")
	if code, text := p.do(http.MethodPost, "/-/reload"); code == http.StatusOK || !strings.Contains(text, "tracing: cannot change") {
		t.Errorf("switched off by a reload: %d %s", code, text)
	}
	if code := p.end(); code != 0 {
		t.Fatalf("code %d: %s", code, p.err)
	}
	for header := range sent {
		if !spans[header] {
			t.Errorf("the sent %s has no span", header)
		}
	}
	if len(sent) < 6 || parents[""] < 2 || len(parents) < 3 {
		t.Errorf("%d requests, %d conversations, %d parents", len(sent), parents[""], len(parents))
	}
}

// TestKeyOfTheReceiverIsNotShown: the log says that an environment variable of the exporter is wrong,
// without its value, which has the receiver's key.
func TestKeyOfTheReceiverIsNotShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	if err := os.WriteFile(file, []byte("targets: [{base_url: 'http://127.0.0.1:1'}]\ntracing: {url: 'http://127.0.0.1:1'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, _, _ := newProcess("run", "--config.file="+file, "--web.listen-address=127.0.0.1:0")
	cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_HEADERS=Bearer sk-receiver-0123456789abcdef")
	if text := serveAs(t, cmd).err.String(); strings.Contains(text, "0123456789") || !strings.Contains(text, "ignores an environment variable") {
		t.Error(text)
	}
}
