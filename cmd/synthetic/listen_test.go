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

// TestPortInUse: a process that cannot listen does not probe. Otherwise a pod that restarts
// in a loop over its port would start conversations each time.
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
		"--web.route-prefix=probes":      "--web.route-prefix=probes: write a path",
		"--web.route-prefix=/a/../b":     "--web.route-prefix=/a/../b: write a path",
		"--web.route-prefix=/{a}":        "--web.route-prefix=/{a}: write a path",
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
		"--engine=first_token=-1s":           "--engine=first_token=-1s: want at least 0",
		"--engine=prefill=1us,inter_token=1": "--engine=inter_token=1: \"1\" is not a valid value; the default is 20ms",
		"--engine=answer_tokens=0":           "--engine=answer_tokens=0: want at least 1",
		"--model=":                           "--model is empty: a model has a name",
		"--engine=reasoning=NaN":             "--engine=reasoning=NaN: want a number from 0 to 1",
		"--engine=reasoning=-0.000001":       "--engine=reasoning=-1e-06: want a number from 0 to 1",
		"--engine=first-token=1s":            "--engine=first-token=1s: there is no key \"first-token\"; \"synthetic simulate --help\" lists the keys",
	} {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"simulate", "--web.listen-address=127.0.0.1:0", flag}, &out, &errs)
		if code != exitUsage || errs.String() != "synthetic: "+want+"\n" {
			t.Errorf("%s: code %d, errors %q, want %d and %q", flag, code, errs.String(), exitUsage, want)
		}
	}
}
