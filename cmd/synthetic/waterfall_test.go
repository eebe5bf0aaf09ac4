package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const ms = time.Millisecond

func scheduledAt() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC) }

// whole returns a turn with all values.
func whole() probe.Result {
	sent := scheduledAt().Add(2 * ms)
	return probe.Result{
		Target: "t", Workload: "w", Kind: probe.First, Sent: sent, End: sent.Add(1000 * ms), Outcome: probe.Success,
		TTFT: probe.Some(200 * ms), TPOT: probe.Some(25 * ms),
		Asked:  probe.Asked{Model: "m", Conversation: "c1", Turn: 1, TraceID: strings.Repeat("ab", 16), Scheduled: scheduledAt()},
		Server: probe.Server{Status: 200},
		Timing: probe.Timing{Phases: probe.Phases{
			DNS: probe.Some(20 * ms), Connect: probe.Some(30 * ms), TLS: probe.Some(50 * ms),
			Headers: probe.Some(150 * ms), FirstEvent: probe.Some(160 * ms),
		}, AnswerTTFT: probe.Some(300 * ms), Gaps: []time.Duration{10 * ms, 30 * ms, 20 * ms}, Events: 4, Coalesced: 1, Kernel: true},
		Tokens: probe.Tokens{PromptTokens: probe.Some(400), CachedTokens: probe.Some(100), OutputTokens: probe.Some(4)},
		Texts:  probe.Texts{FinishReason: "stop"},
	}
}

// unreached returns a turn that could not connect.
func unreached() probe.Result {
	return probe.Result{
		Kind: probe.Followup, Sent: scheduledAt(), End: scheduledAt().Add(300 * time.Microsecond),
		Outcome: probe.ConnectError, Err: "connect: refused",
		Asked: probe.Asked{Conversation: "c1", Turn: 2, TraceID: strings.Repeat("cd", 16), Scheduled: scheduledAt()},
	}
}

// estimated returns a turn on a reused connection, from a server without usage.
func estimated() probe.Result {
	r := whole()
	r.Turn, r.Kind = 2, probe.Followup
	r.Phases = probe.Phases{Headers: probe.Some(200 * ms), FirstEvent: probe.Some(200 * ms), Reused: true}
	r.AnswerTTFT = r.TTFT
	r.PromptTokens, r.CachedTokens, r.UsageMissing, r.Kernel = probe.Opt[int]{}, probe.Opt[int]{}, true, false
	r.Gateway = probe.Gateway{Retries: probe.Some(0), Fallbacks: probe.Some(1), Overhead: probe.Some(150 * ms), Response: probe.Some(160 * ms), Backend: "10.0.0.7:8000"}
	return r
}

func TestGolden(t *testing.T) {
	var text strings.Builder
	impossible := estimated()
	impossible.UsageImpossible = "the usage has 99999999 output tokens, but the answer has at most 264"
	results := []probe.Result{whole(), estimated(), impossible, unreached()}
	for _, r := range results {
		if err := writeTurn(&text, r); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "waterfall.txt", text.String())
	var doc strings.Builder
	sum := probe.Conversation{ID: "c1", Outcome: probe.ConnectError}
	if err := writeJSON(&doc, "http://x/v1", sum, results); err != nil {
		t.Fatal(err)
	}
	golden(t, "waterfall.json", doc.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestThreeDigits(t *testing.T) {
	const ms = time.Millisecond
	for d, want := range map[time.Duration]string{
		0: "0 s", 812 * time.Microsecond: "812 µs", 1500 * time.Microsecond: "1.5 ms",
		18230 * time.Microsecond: "18.2 ms", 182 * ms: "182 ms", 1930 * ms: "1.93 s", 90 * time.Second: "90 s", -2 * ms: "-2 ms", 1234 * time.Second: "1234 s",
	} {
		if got := threeDigits(d); got != want {
			t.Errorf("threeDigits(%v) = %q, want %q", d, got, want)
		}
	}
}
