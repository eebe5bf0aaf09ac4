package main

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"

	"synthetic/internal/simulate"
)

// TestKeyAppearsNowhere runs the sidecar and the probe with a key, against a deployment
// that accepts it and one that refuses it and quotes it in the error. The key must not
// appear in any output.
func TestKeyAppearsNowhere(t *testing.T) {
	const key = "sk-THE-KEY-0123456789abcdef"
	const header = "tenant-SECRET-0123456789"
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, good := fastDeployment(t, func(o *simulate.Options) { o.APIKey = key })
	_, bad := fastDeployment(t, func(o *simulate.Options) { o.APIKey = "another" })
	extra := ", model: simulated-chat, api_key_file: " + keyFile + ", headers: {x-tenant: " + header + "}, server_metrics: {}"
	file := configFor(t, extra, map[string]string{"good": good.URL, "bad": bad.URL})
	p := sidecarRun(t, file, "--web.enable-lifecycle", "--log.level=debug")
	p.until("turns of both targets", func(s map[string]float64) bool {
		g, _ := sum(s, "synthetic_turn_duration_seconds_count", `target="good"`)
		b, _ := sum(s, "synthetic_turn_failures_total", `target="bad"`, "http_4xx")
		_, read := sum(s, "synthetic_server_metrics_up", `target="bad"`)
		return g > 5 && b > 5 && read
	})
	seen := map[string]string{}
	for _, path := range []string{"/", "/metrics", "/api/status", "/-/ready", "/-/healthy"} {
		_, seen["GET "+path] = p.get(path)
	}
	_, seen["reload"] = p.do(http.MethodPost, "/-/reload")
	if err := os.WriteFile(file, []byte("targets: [{base_url: http://x/v1, api_key: "+key+", headers: {Authorization: Bearer "+key+"}}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, seen["a key within the file"] = p.do(http.MethodPost, "/-/reload")
	if !strings.Contains(seen["a key within the file"], "api_key_file") {
		t.Errorf("the error for an inline key is %q", seen["a key within the file"])
	}
	var dump bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&dump, 2); err != nil {
		t.Fatal(err)
	}
	seen["goroutine dump"] = dump.String()
	for name, url := range map[string]string{"good": good.URL, "bad": bad.URL} {
		out, errs := newBuffer(), newBuffer()
		run(t.Context(), []string{"probe", "--base-url", url, "--api-key-file", keyFile, "--header", "x-tenant=" + header, "--output=json", "--turns=1", "--log.level=debug"}, out, errs)
		seen["probe "+name] = out.String() + errs.String()
	}
	p.end()
	seen["log"] = p.err.String() + p.out.String()
	for where, text := range seen {
		for _, secret := range []string{key, header, base64.StdEncoding.EncodeToString([]byte(key)), key[:12]} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q appears in %.2000s", where, secret, text)
			}
		}
		if len(text) == 0 {
			t.Errorf("%s: there was no output to check", where)
		}
	}
}
