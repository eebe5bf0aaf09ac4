package runfile_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// turns returns 201 turns at each of two levels, one every 100 ms. The first is in the warm-up,
// and every fiftieth failed.
func turns() turnlog.Next {
	var all []turnlog.Turn
	start := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	for level := range 2 {
		for i := range 202 {
			ttft := time.Duration(100+i) * time.Millisecond
			length := time.Second
			t := turnlog.Turn{
				At: start.Add(time.Duration(i)*100*time.Millisecond - length), Target: "a", Workload: "w", Kind: probe.First, Outcome: probe.Success,
				TTFT: probe.Some(ttft), TPOT: probe.Some(20 * time.Millisecond), Duration: probe.Some(length),
				PromptTokens: probe.Some(50), OutputTokens: probe.Some(40), TraceID: "0af7", SpanID: "b7ad", Moved: probe.Some(true),
				Recall: probe.Recall{Result: recall.Wrong, Depth: probe.Some(40), Cached: probe.Some(true)},
				Study:  &turnlog.Study{Level: float64(level + 1), Repetition: 1, Phase: turnlog.Measured, Conversation: "c", Index: 1 + i%2},
			}
			if i == 0 {
				t.Study.Phase = turnlog.WarmUp
			} else if i == 201 { // its user left
				t.Outcome = probe.UserCanceled
			} else if i%50 == 0 {
				t.Outcome, t.TTFT, t.TPOT = probe.HTTP5xx, probe.Opt[time.Duration]{}, probe.Opt[time.Duration]{}
			}
			all = append(all, t)
		}
		start = start.Add(time.Minute)
	}
	return func() (*turnlog.Turn, error) {
		if len(all) == 0 {
			return nil, io.EOF
		}
		t := all[0]
		all = all[1:]
		return &t, nil
	}
}

func written(t *testing.T, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := runfile.WriteExport(&b, format, turns()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCSV(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(written(t, "csv"))).ReadAll()
	if err != nil || len(rows) != 405 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	const want = "2026-01-05T07:59:59.1Z a w 1 1 measured c 2 first success 0.101  0.02 1 50  40 0af7 b7ad lost wrong yes 40"
	if got := strings.Join(rows[2], " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAIPerf(t *testing.T) {
	lines := bytes.Split(bytes.TrimSpace(written(t, "aiperf")), []byte("\n"))
	if len(lines) != 404 {
		t.Fatalf("%d lines", len(lines))
	}
	const warm = `{"metadata":{"session_num":0,"x_request_id":"b7ad","x_correlation_id":"c","conversation_id":"c","turn_index":0,` +
		`"request_start_ns":1767599999000000000,"request_ack_ns":null,"request_end_ns":1767600000000000000,"worker_id":"synthetic",` +
		`"record_processor_id":"synthetic","benchmark_phase":"warmup","was_cancelled":false,"cancellation_time_ns":null,"variant":"a","level":1,"repetition":1},` +
		`"metrics":{"input_sequence_length":{"value":50,"unit":"tokens"},"inter_token_latency":{"value":20,"unit":"ms"},` +
		`"output_sequence_length":{"value":40,"unit":"tokens"},"output_token_throughput_per_user":{"value":50,"unit":"tokens/sec/user"},` +
		`"request_latency":{"value":1000,"unit":"ms"},"time_to_first_token":{"value":100,"unit":"ms"}},"error":null}`
	if string(lines[0]) != warm {
		t.Errorf("got  %s\nwant %s", lines[0], warm)
	}
	var failed, left struct {
		Metadata struct {
			Session  int  `json:"session_num"`
			Canceled bool `json:"was_cancelled"`
		}
		Error struct{ Type string }
	}
	if err := json.Unmarshal(lines[202+50], &failed); err != nil || failed.Error.Type != "http_5xx" || failed.Metadata.Session != 1 || failed.Metadata.Canceled {
		t.Errorf("%v: %+v", err, failed)
	}
	if err := json.Unmarshal(lines[201], &left); err != nil || !left.Metadata.Canceled {
		t.Errorf("%v: a user left: %+v", err, left)
	}
}

// TestSessions: turns without a known conversation have a session each.
func TestSessions(t *testing.T) {
	var b bytes.Buffer
	n := 0
	err := runfile.WriteExport(&b, "aiperf", func() (*turnlog.Turn, error) {
		if n++; n > 3 {
			return nil, io.EOF
		}
		return &turnlog.Turn{Target: "a", Outcome: probe.Success}, nil
	})
	if err != nil || !strings.Contains(b.String(), `"session_num":2,`) {
		t.Errorf("%v:\n%s", err, &b)
	}
}

// TestGuideLLMReadsBack: our reader reads the export for GuideLLM's tools.
func TestGuideLLMReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "benchmarks.json")
	if err := os.WriteFile(path, written(t, "guidellm"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := figures.Read(path)
	if err != nil || len(s.Series) != 1 || len(s.Series[0].Levels) != 2 || s.Kind != runfile.Concurrency {
		t.Fatalf("%v: %+v", err, s)
	}
	for m, want := range map[figures.Metric]float64{
		figures.TTFTP50: 199, "ttft_min_ms": 101, "ttft_max_ms": 299, figures.TPOTP50: 20, "ntpot_p50_ms": 25, figures.LatencyP50: 1000,
		figures.TurnsPerSecond: 9.8, figures.OutputTokensPerSecond: 392, figures.Completed: 196, figures.Failed: 4,
	} {
		if got := s.Series[0].Levels[1].Value(m); math.Abs(got-want) > 1e-3*want {
			t.Errorf("%s is %g, want %g", m, got, want)
		}
	}
}
