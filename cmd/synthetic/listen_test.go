package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPortInUse: what cannot serve must not probe either. A pod that crashes
// over its port would otherwise begin conversations at each restart.
func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the target was asked for %s", r.URL)
		http.Error(w, "", http.StatusTeapot)
	}))
	defer target.Close()
	config := configFor(t, "", map[string]string{"a": target.URL})
	for _, args := range [][]string{
		{"run", "--config.file=" + config, "--web.listen-address=127.0.0.1:0", "--web.listen-address=" + taken.Addr().String()},
		{"simulate", "--web.listen-address=" + taken.Addr().String()},
		{"demo", "--web.listen-address=" + taken.Addr().String()},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), args, &out, &errs)
		if code != exitFailure || !strings.Contains(errs.String(), taken.Addr().String()) || !strings.Contains(errs.String(), "choose another --web.listen-address") {
			t.Errorf("%s: code %d, errors %s", args[0], code, errs.String())
		}
	}
}

func TestWebFlagsAreChecked(t *testing.T) {
	config := configFor(t, "", map[string]string{"a": "http://127.0.0.1:1"})
	broken := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(broken, []byte("nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{
		"--web.listen-address=":          "--web.listen-address=: missing port in address",
		"--web.listen-address=localhost": "--web.listen-address=localhost: address localhost: missing port in address",
		"--web.config.file=no-such-file": "--web.config.file=no-such-file: open no-such-file: no such file or directory",
		"--web.config.file=" + broken:    "field nonsense not found",
	} {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"run", "--config.file=" + config, flag}, &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: code %d, errors %q, want %d and %q", flag, code, errs.String(), exitUsage, want)
		}
	}
}

func TestSimulateRefuses(t *testing.T) {
	for flag, want := range map[string]string{
		"--first-token=-1s":         "--first-token=-1s: a delay is 0 or longer",
		"--inter-token=-1ms":        "--inter-token=-1ms: a delay is 0 or longer",
		"--first-token.spread=NaN":  "--first-token.spread=NaN: a spread is between 0 and 5",
		"--answer-tokens.spread=-1": "--answer-tokens.spread=-1: a spread is between 0 and 5",
		"--answer-tokens=0":         "--answer-tokens=0: an answer has at least 1 token",
		"--tokens-per-event=0.5":    "--tokens-per-event=0.5: an event carries 1 to 64 tokens on average",
		"--model=":                  "--model is empty: a model has a name",
		"--reasoning=NaN":           "--reasoning=NaN: a share is between 0 and 1",
		"--reasoning=-0.000001":     "--reasoning=-1e-06: a share is between 0 and 1",
	} {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"simulate", "--web.listen-address=127.0.0.1:0", flag}, &out, &errs)
		if code != exitUsage || errs.String() != "synthetic: "+want+"\n" {
			t.Errorf("%s: code %d, errors %q, want %d and %q", flag, code, errs.String(), exitUsage, want)
		}
	}
}
