package main

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/simulate"
)

func TestProbeRefuses(t *testing.T) {
	const url = "http://127.0.0.1:1/v1"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "required flag(s) '--base-url' not provided"},
		{[]string{"--base-url=127.0.0.1:8000"}, "--base-url: invalid URL"},
		{[]string{"--base-url=ftp://x"}, "write for example http://127.0.0.1:8000/v1"},
		{[]string{"--base-url=http://me:pass@x"}, "carries a user name or password"},
		{[]string{"--base-url=http://x/v1?a=b"}, "has a fragment or a query other than api-version"},
		{[]string{"--base-url=http://x/v1/chat/completions/"}, "end it with /v1"},
		{[]string{"--base-url=http://x/v1/models"}, "end it with /v1"},
		{[]string{"--base-url=" + url, "--api=azure"}, "name one with --model"},
		{[]string{"--base-url=" + url, "--api=grpc"}, "enum value must be one of chat,completions"},
		{[]string{"--base-url=" + url, "--turns=0"}, "--turns=0: a conversation has 1 to 1000 turns"},
		{[]string{"--base-url=" + url, "--turns=100000000"}, "--turns=100000000: a conversation has 1 to 1000 turns"},
		{[]string{"--base-url=" + url, "--prompt-tokens=99999999"}, "a prompt has 1 to 2000000 tokens"},
		{[]string{"--base-url=" + url, "--max-output-tokens=-1"}, "give 0 for no limit, or at most 2000000"},
		{[]string{"--base-url=" + url, "--timeout=0s"}, "--timeout=0s: a timeout is positive"},
		{[]string{"--base-url=" + url, "--tls.ca-file=ca.pem"}, "has no effect on an http address"},
		{[]string{"--base-url=" + url, "--tls.insecure-skip-verify"}, "has no effect on an http address"},
		{[]string{"--base-url=" + url, "--http2"}, "--http2 has no effect on an http address"},
		{[]string{"--base-url=" + url, "--api-key-file=a", "--api-key-env=B"}, "exclude each other"},
		{[]string{"--base-url=" + url, "--api-key-file=no-such-file"}, "reading the API key file: open no-such-file"},
		{[]string{"--base-url=" + url, "--api-key-env=NO_SUCH_VARIABLE"}, `variable "NO_SUCH_VARIABLE", which should hold the API key, is not set`},
		{[]string{"--base-url=" + url, "--header=a b=c"}, `--header "a b"`},
		{[]string{"--base-url=" + url, "--header=a=b\nc"}, `--header "a"`},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), append([]string{"probe"}, c.args...), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
			t.Errorf("%q: code %d, output %q, errors %q, want %d and %q", c.args, code, out.String(), errs.String(), exitUsage, c.want)
		}
	}
}

// TestProbeJSON: the documented keys exist, and unknown values are null.
func TestProbeJSON(t *testing.T) {
	// The tokens come slowly enough that a busy machine does not deliver all of them together.
	_, server := fastDeployment(t, func(o *simulate.Options) { o.InterToken.Median, o.Answer.Median = 20*time.Millisecond, 16 })
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"probe", "--base-url", server.URL, "--turns=2", "--output=json"}, &out, &errs); code != exitOK {
		t.Fatalf("code %d: %s", code, errs.String())
	}
	var report struct{ Turns []map[string]any }
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Turns) != 2 {
		t.Fatalf("%d turns, want 2", len(report.Turns))
	}
	for i, turn := range report.Turns {
		for _, key := range []string{
			"outcome", "scheduled", "sent", "ttft_seconds", "answer_ttft_seconds", "tpot_seconds", "itl_p50_seconds",
			"duration_seconds", "prompt_tokens", "cached_prompt_tokens", "output_tokens", "phases", "trace_id",
		} {
			if turn[key] == nil {
				t.Errorf("turn %d: %s is missing or null", i+1, key)
			}
		}
	}
}

// TestProbeHTTP2: a turn says which version of HTTP it used. The prober uses HTTP/2 only if both the
// flag and the server want it.
func TestProbeHTTP2(t *testing.T) {
	for _, c := range []struct {
		offered bool
		flags   []string
		want    string
	}{{true, nil, "1.1"}, {true, []string{"--http2"}, "2"}, {false, []string{"--http2"}, "1.1"}} {
		deployment, _ := fastDeployment(t)
		server := httptest.NewUnstartedServer(deployment)
		server.EnableHTTP2 = c.offered
		server.StartTLS()
		t.Cleanup(server.Close)
		args := append([]string{"probe", "--base-url", server.URL, "--turns=1", "--tls.insecure-skip-verify"}, c.flags...)
		for output, want := range map[string]string{"text": "HTTP/" + c.want + "\n", "json": `"http_version": "` + c.want + `"`} {
			var out, errs strings.Builder
			code := run(t.Context(), append(args, "--output", output), &out, &errs)
			if code != exitOK || !strings.Contains(out.String(), want) {
				t.Errorf("%v, offered %v: code %d, %q, want %q in:\n%s", c.flags, c.offered, code, errs.String(), want, out.String())
			}
		}
	}
}

func TestProbeFails(t *testing.T) {
	_, server := fastDeployment(t, befall(simulate.ErrorStatus, 1))
	var out, errs strings.Builder
	code := run(t.Context(), []string{"probe", "--base-url", server.URL, "--turns=2", "--output=json"}, &out, &errs)
	var report struct{ Turns []map[string]any }
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil {
		t.Fatal(err)
	}
	if code != exitFailure || len(report.Turns) != 1 {
		t.Fatalf("code %d and %d turns, want %d and one failed turn", code, len(report.Turns), exitFailure)
	}
	turn := report.Turns[0]
	if turn["outcome"] != "http_5xx" {
		t.Errorf("the outcome is %v, want http_5xx", turn["outcome"])
	}
	for _, key := range []string{"ttft_seconds", "tpot_seconds", "prompt_tokens", "cached_prompt_tokens", "output_tokens"} {
		if v, ok := turn[key]; !ok || v != nil {
			t.Errorf("%s is %v, want null", key, v)
		}
	}
}

func TestProbeText(t *testing.T) {
	_, server := fastDeployment(t)
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"probe", "--base-url", server.URL + "/", "--turns=1"}, &out, &errs); code != exitOK {
		t.Fatalf("code %d: %s", code, errs.String())
	}
	lines := strings.Split(out.String(), "\n")
	if want := server.URL + "/v1  model simulated-chat  1 turn"; lines[0] != want {
		t.Errorf("the first line is %q, want %q", lines[0], want)
	}
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "ok   turn 1 (first)  success  TTFT ") }) {
		t.Errorf("no line reports the success of turn 1:\n%s", out.String())
	}
}
