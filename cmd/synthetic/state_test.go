package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/regression"
)

// TestStateFile: a stopped sidecar has saved what it knows, and a damaged file
// is refused rather than overwritten.
func TestStateFile(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t)
	path := filepath.Join(t.TempDir(), "baselines.json")
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": server.URL}), "--state.file="+path)
	p.until("turns", func(s map[string]float64) bool { n, _ := sum(s, "synthetic_turns_total"); return n > 10 })
	if code := p.end(); code != exitOK {
		t.Fatalf("exit code %d: %s", code, p.err)
	}
	f, err := regression.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Jobs) != 1 || f.Jobs[0].Target != "a" || len(f.Jobs[0].Series) == 0 {
		t.Errorf("saved %+v, want the series of target a", f.Jobs)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := newBuffer(), newBuffer()
	code := run(t.Context(), []string{"run", "--config.file=" + configFor(t, "", map[string]string{"a": server.URL}), "--state.file=" + path, "--web.listen-address=127.0.0.1:0"}, out, errs)
	if code != exitFailure || !strings.Contains(errs.String(), "delete the file to learn anew") {
		t.Errorf("a damaged file: exit code %d, %s", code, errs)
	}
}
