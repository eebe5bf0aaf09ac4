package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/sidecar/watch"
)

// TestStateFile: a sidecar saves its state when it stops.
func TestStateFile(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t)
	path := filepath.Join(t.TempDir(), "baselines.json")
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": server.URL}), "--state.file="+path)
	p.until("turns", func(s map[string]float64) bool { n, _ := sum(s, "synthetic_turns_total"); return n > 10 })
	if code := p.end(); code != exitOK {
		t.Fatalf("exit code %d: %s", code, p.err)
	}
	f, err := watch.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Jobs) != 1 || f.Jobs[0].Target != "a" || len(f.Jobs[0].Signals[0].Classes) == 0 {
		t.Errorf("saved %+v, want what is usual of target a", f.Jobs)
	}
}

// TestSecondProcess: a second process does not touch the files of the first.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t)
	file := configFor(t, "", map[string]string{"a": server.URL})
	paging := configFor(t, "", map[string]string{"a": server.URL})
	withAlerting(t, paging, "alerting: {directory: "+filepath.Join(t.TempDir(), "pager")+"}\n")
	state := "--state.file=" + filepath.Join(t.TempDir(), "baselines.json")
	sidecarRun(t, paging, state)
	refused := func(name, want string, args ...string) {
		out, errs := newBuffer(), newBuffer()
		code := run(t.Context(), append([]string{"run", "--web.listen-address=127.0.0.1:0"}, args...), out, errs)
		if code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", name, code, exitUsage, want, errs)
		}
	}
	holder := fmt.Sprintf("is in use by process %d on ", os.Getpid())
	refused("the state file", holder, "--config.file="+file, state)
	refused("the pager's directory", holder, "--config.file="+paging)
}
