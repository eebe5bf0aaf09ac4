package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"synthetic/internal/sidecar/watch"
	"synthetic/tools/testkit/smalldisk"
)

// evaluates waits until the pager evaluates rules.
func (p *program) evaluates() {
	p.t.Helper()
	p.until("evaluated rules", func(s map[string]float64) bool {
		return s["synthetic_pager_rule_evaluations_total"] > 0 && s["synthetic_pager_stalled"] == 0
	})
}

// turns waits until more turns have ended.
func (p *program) turns() {
	p.t.Helper()
	before, _ := sum(p.series(), "synthetic_turns_total")
	p.until("turns", func(s map[string]float64) bool { n, _ := sum(s, "synthetic_turns_total"); return n > before+10 })
}

// TestHangingVolume: a volume with the state, the turn log and the pager's directory does not answer. Probing,
// discovery and the port go on, and an accepted level is said not to be saved yet. When the volume answers again
// after SIGTERM, everything is saved and the process ends.
func TestHangingVolume(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, "64")
	_, server := fastDeployment(t)
	file := configFor(t, "", map[string]string{"a": server.URL})
	found := filepath.Join(filepath.Dir(file), "found.json")
	discover := func(hosts string) {
		if err := os.WriteFile(found, []byte(`[{"targets": [`+hosts+`]}]`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	discover("")
	withAlerting(t, file, "alerting: {interval: 1s, directory: "+filepath.Join(disk.Path, "pager")+"}\n"+
		"discovery: [{name: pods, file_sd_configs: [{files: ["+found+"]}], target: {model: m}}]\n")
	state, turns := filepath.Join(disk.Path, "state"), filepath.Join(disk.Path, "turns.jsonl")
	cmd, _, _ := newProcess("run", "--config.file="+file, "--state.file="+state, "--turns.file="+turns,
		"--web.listen-address=127.0.0.1:0", "--web.enable-lifecycle", "--shutdown.timeout=30s")
	p := serveAs(t, cmd)
	log := p.err
	p.evaluates()
	p.turns()

	answer := disk.Hang()
	began := time.Now()
	if code, text := p.do(http.MethodPost, "/-/accept?target=a"); code != 200 || !strings.Contains(text, "not saved yet") {
		t.Errorf("/-/accept answers %d after %s: %s", code, time.Since(began), text)
	}
	discover(`"` + strings.TrimPrefix(server.URL, "http://") + `"`)
	p.until("turns of a discovered target", func(s map[string]float64) bool {
		n, _ := sum(s, "synthetic_turns_total", `target="pods/`)
		return n > 10
	})
	p.turns()
	for _, path := range []string{"/", "/-/ready"} {
		if code, text := p.get(path); code != 200 {
			t.Errorf("%s answers %d: %s", path, code, text)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log.find(t, "Stopping: turns in flight may end")
	answer()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it still runs a minute after SIGTERM")
	}
	f, err := watch.ReadFile(state)
	if code := cmd.ProcessState.ExitCode(); code != exitOK || err != nil || len(f.Jobs) != 2 || f.Jobs[0].Saved.Before(began) {
		t.Errorf("exit code %d, the state file has %+v (%v); log:\n%s", code, f.Jobs, err, log)
	}
}

// TestReadOnlyDirectories makes the volume of the state and of the pager's directory read-only. The process says so,
// where and what to do, and keeps probing, exporting and alerting. When the volume is writable again, it saves
// without a restart. A process does not start with such a volume for the state or the turns.
func TestReadOnlyDirectories(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, "64")
	_, server := fastDeployment(t)
	file := configFor(t, "", map[string]string{"a": server.URL})
	plain := configFor(t, "", map[string]string{"a": server.URL})
	withAlerting(t, file, "alerting: {interval: 1s, directory: "+filepath.Join(disk.Path, "pager")+"}\n")
	state := filepath.Join(disk.Path, "state")
	p := sidecarRun(t, file, "--state.file="+state, "--web.enable-lifecycle")
	p.evaluates()
	p.turns()

	disk.SetReadOnly(true)
	accepted := time.Now()
	if code, text := p.do(http.MethodPost, "/-/accept?target=a"); code != 200 || !strings.Contains(text, "not saved yet: ") || !strings.Contains(text, "its directory must be writable") {
		t.Errorf("/-/accept answers %d: %s", code, text)
	}
	for _, complaint := range []string{"The state could not be saved", "The history could not be saved", "The alerts cannot be saved"} {
		p.err.find(t, complaint+`.* err="[^\n]*`+regexp.QuoteMeta(disk.Path)+`[^\n]*read-only file system[^\n]*its directory must be writable`)
	}
	if said := p.err.String(); strings.Contains(said, "targets could not be saved") {
		t.Errorf("there are no discovered targets to save:\n%s", said)
	}
	p.turns()
	p.evaluates()

	other := smalldisk.New(t, "1")
	other.SetReadOnly(true)
	for name, args := range map[string][]string{
		"--state.file": {"--config.file=" + plain, "--state.file=" + filepath.Join(other.Path, "state")},
		"--turns.file": {"--config.file=" + plain, "--turns.file=" + filepath.Join(other.Path, "turns")},
	} {
		out, errs := newBuffer(), newBuffer()
		code := run(t.Context(), append([]string{"run", "--web.listen-address=127.0.0.1:0"}, args...), out, errs)
		if said := errs.String(); code != exitUsage || !strings.Contains(said, name+":") || !strings.Contains(said, other.Path) || !strings.Contains(said, "directory must exist and be writable") {
			t.Errorf("%s on a read-only volume: exit code %d, want %d:\n%s", name, code, exitUsage, said)
		}
	}

	disk.SetReadOnly(false)
	if code, text := p.do(http.MethodPost, "/-/accept?target=a"); code != 200 || strings.Contains(text, "not saved") {
		t.Errorf("with a writable volume, /-/accept answers %d: %s", code, text)
	}
	f, err := watch.ReadFile(state)
	if err != nil || len(f.Jobs) != 1 || f.Jobs[0].Saved.Before(accepted) {
		t.Errorf("the state file has %+v (%v)", f.Jobs, err)
	}
	alerts := filepath.Join(disk.Path, "pager", "alerts.json")
	if !eventually(func() bool { info, err := os.Stat(alerts); return err == nil && info.ModTime().After(accepted) }) {
		t.Error("the alerts are not saved again")
	}
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d; log:\n%s", code, p.err)
	}
}
