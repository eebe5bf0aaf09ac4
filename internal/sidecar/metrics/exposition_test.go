package metrics

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares the text with a file, or rewrites the file with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is stale; `go test ./internal/sidecar/metrics -update` rewrites it (-file +now):\n%s", path, diff)
	}
}

// scrape requests a format from the handler.
func scrape(t *testing.T, r *testRecorder, accept string) *bytes.Buffer {
	t.Helper()
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	r.Handler(promhttp.HandlerOpts{}).ServeHTTP(w, req)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body
}

// scripted returns a recorder after a small, varied history: every phase, a failure, a cut
// stream, a canceled turn, a conversation with each kind of end, and one in flight.
func scripted() *testRecorder {
	c := &clock{start}
	r := newTestRecorder(c, "east", "west")
	at := func(d time.Duration) time.Time { c.now = start.Add(d); return c.now }

	one := turn("east", probe.First, at(0), 420*time.Millisecond, 21*time.Millisecond, 12)
	one.Phases = probe.Phases{
		DNS: probe.Some(2 * time.Millisecond), Connect: probe.Some(time.Millisecond),
		TLS: probe.Some(9 * time.Millisecond), Headers: probe.Some(60 * time.Millisecond),
		FirstEvent: probe.Some(70 * time.Millisecond),
	}
	one.FinishReason = "eos_token"
	one.Session = probe.SessionLost
	one.Gateway = probe.Gateway{Retries: probe.Some(2), Fallbacks: probe.Some(1), Overhead: probe.Some(50 * time.Millisecond), Backend: "10.0.0.7:8000"}
	r.Observe(probe.ConversationStart{Target: "east", Workload: "chat"})
	run(r, one)
	run(r, turn("east", probe.Followup, at(3*time.Second), 130*time.Millisecond, 72*time.Millisecond, 9))
	r.Observe(probe.ConversationStart{Target: "east", Workload: "chat"})
	r.Observe(probe.Conversation{Shortened: true, Target: "east", Workload: "chat", Outcome: probe.Success, Scheduled: start, End: at(4 * time.Second)})
	r.Observe(probe.Conversation{Target: "east", Workload: "chat", Outcome: probe.Success, Scheduled: start, End: at(4 * time.Second)})

	cut := turn("east", probe.First, at(10*time.Second), 1300*time.Millisecond, 25*time.Millisecond, 3)
	cut.Outcome, cut.UsageMissing, cut.Coalesced = probe.Truncated, true, 1
	cut.PromptTokens, cut.CachedTokens = probe.Opt[int]{}, probe.Opt[int]{}
	r.Observe(probe.ConversationStart{Target: "east", Workload: "chat"})
	run(r, cut)
	r.Observe(probe.Conversation{Target: "east", Workload: "chat", Outcome: probe.Truncated, Scheduled: start, End: at(12 * time.Second)})

	refused := probe.Result{
		Target: "west", Workload: "chat", Kind: probe.First, Outcome: probe.ConnectError, Sent: c.now, End: c.now,
		Asked: probe.Asked{Scheduled: at(13 * time.Second)},
	}
	run(r, refused)
	gone := turn("west", probe.First, at(14*time.Second), 80*time.Millisecond, 5*time.Millisecond, 2)
	gone.Outcome = probe.Canceled
	run(r, gone)
	r.Observe(probe.ConversationStart{Target: "west", Workload: "chat"})
	r.Observe(probe.Start{Target: "west", Workload: "chat", Kind: probe.First})
	r.Observe(probe.Skip{Target: "west", Workload: "chat", Reason: probe.SkipReasons()[0]})
	r.ServerRead("east", serverside.Reading{Complete: true, State: serverside.State{
		Running: probe.Some(16.0), Waiting: probe.Some(94.0), KVUse: probe.Some(0.98), TokenAge: probe.Some(1500 * time.Millisecond), Preemptions: probe.Some(97.0),
	}})
	r.ServerRead("west", serverside.Reading{})
	return r
}

// TestExpositionGolden runs at a fixed time, because an exemplar carries its time.
func TestExpositionGolden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"text", "openmetrics"} {
			golden(t, filepath.Join("testdata", "exposition."+name), scrape(t, scripted(), formats()[name]).Bytes())
		}
	})
}

func TestLint(t *testing.T) {
	problems, err := promlint.New(scrape(t, scripted(), "text/plain")).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestExemplars checks that the bucket of a slow, cut turn has its trace.
func TestExemplars(t *testing.T) {
	text := scrape(t, scripted(), formats()["openmetrics"]).String()
	want := `synthetic_ttft_seconds_bucket{target="east",turn="first",workload="chat",le="2.0"} 2 # {trace_id="00000000000000001898b5e2a5f3a400"} 1.3`
	want = regexp.MustCompile(`trace_id="[0-9a-f]{32}"`).ReplaceAllString(regexp.QuoteMeta(want), `trace_id="[0-9a-f]{32}"`)
	if !regexp.MustCompile(want).MatchString(text) {
		t.Errorf("no exemplar like %s", want)
	}
	for _, line := range strings.Split(text, "\n") {
		family, _, _ := strings.Cut(line, "_bucket")
		if strings.Contains(line, "# {trace_id") && family != ttft && family != tpot {
			t.Errorf("an unexpected exemplar: %s", line)
		}
	}
}

// TestProtobufIsNative checks the format that Prometheus requests for native histograms.
func TestProtobufIsNative(t *testing.T) {
	body := scrape(t, scripted(), formats()["protobuf"])
	histograms := 0
	for body.Len() > 0 {
		var f dto.MetricFamily
		if err := protodelim.UnmarshalFrom(body, &f); err != nil {
			t.Fatal(err)
		}
		for _, m := range f.Metric {
			if m.Histogram == nil {
				continue
			}
			histograms++
			requireNative(t, seriesName(f.GetName(), m), m.Histogram)
		}
	}
	if histograms != 8 { // of TTFT and TPOT, of two kinds of turns, of two targets
		t.Errorf("only %d histograms", histograms)
	}
}

func requireNative(t *testing.T, name string, h *dto.Histogram) {
	t.Helper()
	total, count := int64(h.GetZeroCount()), int64(0)
	for _, d := range h.PositiveDelta {
		count += d
		total += count
	}
	if h.GetSchema() != 3 || len(h.Bucket) == 0 || total != int64(h.GetSampleCount()) {
		t.Errorf("%s: schema %d, %d classic buckets, %d of %d values in native ones",
			name, h.GetSchema(), len(h.Bucket), total, h.GetSampleCount())
	}
}
