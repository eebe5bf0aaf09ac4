package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAccept accepts the present level of a running sidecar.
func TestAccept(t *testing.T) {
	_, a := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.enable-lifecycle")
	closed := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}))
	bad := filepath.Join(t.TempDir(), "http.yml")
	if err := os.WriteFile(bad, []byte("nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args      string
		code      int
		out, errs string
	}{
		"accepted":      {"--target=a --since=1h --url=" + p.base, exitOK, `^accepted as usual: a \(workload chat\) since \S+Z; before: .+\n$`, `^$`},
		"unknown":       {"--target=b --url=" + p.base, exitUsage, `^$`, `^synthetic: there is no target "b" .* one of a, `},
		"no time":       {"--target=a --since=soon --url=" + p.base, exitUsage, `^$`, `neither a time nor a duration`},
		"not enabled":   {"--target=a --url=" + closed.base, exitUsage, `^$`, `start synthetic run with --web.enable-lifecycle`},
		"nobody there":  {"--target=a --url=http://127.0.0.1:1", exitFailure, `^$`, `cannot reach the sidecar: .* check that it runs`},
		"no address":    {"--target=a --url=127.0.0.1", exitUsage, `^$`, `--url: want an address`},
		"a password":    {"--target=a --url=http://u:hunter2@127.0.0.1:1", exitUsage, `^$`, `without user and password`},
		"no target":     {"--url=" + p.base, exitUsage, `^$`, `required flag.*--target`},
		"configuration": {"--target=a --http.config.file=" + bad, exitUsage, `^$`, `--http.config.file: .*nonsense`},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			args := append([]string{"accept"}, strings.Fields(tt.args)...)
			code := run(t.Context(), args, &out, &errs)
			if code != tt.code || !regexp.MustCompile(tt.out).MatchString(out.String()) || !regexp.MustCompile("(?s)"+tt.errs).MatchString(errs.String()) || strings.Contains(errs.String(), "hunter2") {
				t.Errorf("code %d, output %q, errors %q", code, out.String(), errs.String())
			}
		})
	}
}
