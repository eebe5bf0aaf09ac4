package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/simulate"
)

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
