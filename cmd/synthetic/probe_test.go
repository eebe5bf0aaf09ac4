package main

import (
	"context"
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
	t.Setenv("SYNTHETIC_TEST_KEY", "sk-first\nsk-second")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "required flag(s) '--base-url' not provided"},
		{[]string{"--base-url=127.0.0.1:8000"}, `--base-url: "127.0.0.1:8000" has no scheme: write http://127.0.0.1:8000/v1`},
		{[]string{"--base-url=localhost:8000/v1"}, "has no scheme: write http://localhost:8000/v1"},
		{[]string{"--base-url="}, "has no scheme: write http://127.0.0.1:8000/v1"},
		{[]string{"--base-url=ftp://x"}, "write an address such as http://127.0.0.1:8000/v1"},
		{[]string{"--base-url=http://x:99999/v1"}, "is not a URL"},
		{[]string{"--base-url=http://me:pass@x"}, "contains user information (not shown): remove the part before the @ and use --api-key-file or --api-key-env\n"},
		{[]string{"--base-url=http://x/v1?a=b"}, "has a query or a fragment (not shown)"},
		{[]string{"--base-url=http://x/v1?api-version=1&a=b"}, "has a query or a fragment (not shown)"},
		{[]string{"--base-url=http://x/v1/chat/completions/"}, "write http://x/v1\n"},
		{[]string{"--base-url=http://x/v1/responses"}, "write http://x/v1\n"},
		{[]string{"--base-url=" + url, "--api=azure"}, "name one with --model"},
		{[]string{"--base-url=" + url, "--api=grpc"}, "--api: 'grpc' is none of chat, completions, "},
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
		{[]string{"--base-url=" + url, "--api-key-env=SYNTHETIC_TEST_KEY"}, `the environment variable "SYNTHETIC_TEST_KEY" has a line break or a control character within the key: it must hold the key alone, on one line`},
		{[]string{"--base-url=" + url, "--header=a b=c"}, `--header "a b"`},
		{[]string{"--base-url=" + url, "--header=a=b\nc"}, `--header "a"`},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), append([]string{"probe"}, c.args...), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), c.want) || out.Len() > 0 || strings.Contains(errs.String(), "sk-") {
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

// TestProbeSaysOnce probes servers that neither list models nor answer a turn.
func TestProbeSaysOnce(t *testing.T) {
	_, server := fastDeployment(t)
	_, down := fastDeployment(t)
	down.Close()
	for url, want := range map[string]string{
		down.URL:           "",
		server.URL + "/v2": "There may be no API below " + server.URL + "/v2: the --base-url of most servers ends with /v1.\n",
		strings.Replace(server.URL, "http:", "https:", 1): "",
	} {
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"probe", "--turns=1", "--base-url=" + url}, &out, &errs); code != exitFailure ||
			!strings.HasSuffix(errs.String(), want) || (want == "") != (errs.Len() == 0) {
			t.Errorf("%s: code %d, errors %q, want %q\n%s", url, code, errs.String(), want, out.String())
		}
		if strings.HasPrefix(url, "https") && !strings.Contains(out.String(), "the server answers without TLS; write http:// in its address if it has none") {
			t.Errorf("%s: no remedy in\n%s", url, out.String())
		}
	}
}

func TestProbeInterrupted(t *testing.T) {
	_, server := fastDeployment(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs strings.Builder
	code := run(ctx, []string{"probe", "--turns=1", "--base-url=" + server.URL}, &out, &errs)
	if want := "synthetic: interrupted before the conversation ended\n"; code != exitStopped || errs.String() != want {
		t.Errorf("code %d, errors %q, want %d and %q", code, errs.String(), exitStopped, want)
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
