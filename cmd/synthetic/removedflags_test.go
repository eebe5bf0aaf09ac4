package main

import (
	"strings"
	"testing"
)

// TestRemovedFlags: each removed flag is unknown to its command, and the error names
// the remedy.
func TestRemovedFlags(t *testing.T) {
	t.Parallel()
	for _, r := range allRemovedFlags() {
		command := r.command
		if command == "generate" {
			command = "generate grafana"
		}
		for flag := range strings.FieldsSeq(r.flags) {
			for _, arg := range []string{"--" + flag + "=1", "--no-" + flag} {
				out, errs := newBuffer(), newBuffer()
				code := run(t.Context(), append(strings.Fields(command), arg), out, errs)
				name, _, _ := strings.Cut(arg, "=")
				if want := name + " was removed: " + r.remedy; code != exitUsage || !strings.Contains(errs.String(), want) {
					t.Errorf("%s %s: exit code %d, %s; want %q", command, arg, code, errs, want)
				}
			}
		}
	}
	out, errs := newBuffer(), newBuffer()
	if run(t.Context(), []string{"run", "--model=quiet"}, out, errs); !strings.Contains(errs.String(), "unknown long flag '--model'") {
		t.Errorf("a flag that only another command had is not explained as unknown: %s", errs)
	}
}
