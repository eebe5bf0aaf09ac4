package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestAccept accepts the present level of a running sidecar.
func TestAccept(t *testing.T) {
	_, a := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.enable-lifecycle")
	closed := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}))
	for name, tt := range map[string]struct {
		args      string
		code      int
		out, errs string
	}{
		"accepted":    {"--target=a --since=1h --url=" + p.base, exitOK, `^a \(workload chat\): the level since \S+Z is the new baseline; .+\n$`, `^$`},
		"unknown":     {"--target=b --url=" + p.base, exitUsage, `^$`, `^synthetic: there is no target "b": name one of a`},
		"no time":     {"--target=a --since=soon --url=" + p.base, exitUsage, `^$`, `neither a time nor a duration`},
		"not enabled": {"--target=a --url=" + closed.base, exitUsage, `^$`, `start synthetic run with --web.enable-lifecycle`},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			args := append([]string{"accept"}, strings.Fields(tt.args)...)
			code := run(t.Context(), args, &out, &errs)
			if code != tt.code || !regexp.MustCompile(tt.out).MatchString(out.String()) || !regexp.MustCompile("(?s)"+tt.errs).MatchString(errs.String()) {
				t.Errorf("code %d, output %q, errors %q", code, out.String(), errs.String())
			}
		})
	}
}
