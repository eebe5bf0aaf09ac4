package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/smalldisk"
	"synthetic/tools/testkit/stage"
)

// TestFullDiskOfTheProgram fills the disk of the real program before it starts, while it
// runs and when it ends. The program keeps probing, sends alerts once there is room, and
// keeps its baselines on the disk that has room.
func TestFullDiskOfTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("waits in real time; make test-long runs it")
	}
	t.Parallel()
	disk := smalldisk.New(t, "64")
	box := &stage.Letterbox{Arrived: make(chan stage.Alert, 10000)}
	am := httptest.NewServer(box)
	defer am.Close()
	_, server := fastDeployment(t, befall(simulate.ErrorStatus, 0.5))
	file := configFor(t, "/v1", map[string]string{"a": server.URL})
	withAlerting(t, file, "alerting: {interval: 1s, directory: "+filepath.Join(disk.Path, "pager")+", alertmanagers: [{url: \""+am.URL+"\"}]}\n")
	state := filepath.Join(filepath.Dir(file), "baselines.json")
	remember(t, state)
	known := stage.Remembered(t, state, targetA())
	disk.Fill()
	log := newBuffer()
	cmd, _, _ := newProcess("run", "--config.file="+file, "--state.file="+state, "--web.listen-address=127.0.0.1:0")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }() // fails if it has ended
	p := &program{t: t, err: log}
	p.base = "http://" + log.find(t, listening)

	p.stalls(1)
	if _, page := p.get("/alerts"); !strings.Contains(page, "pager has stopped") {
		t.Errorf("/alerts does not report the stalled pager: %s", page)
	}
	p.turns()
	if alerts := box.All(); len(alerts) > 0 {
		t.Errorf("alerts without any evaluation: %+v", alerts)
	}
	disk.Free()
	p.stalls(0)
	awaitPage(t, box, log)

	// After two minutes the chunks are full and have to be written.
	time.Sleep(2*time.Minute + 10*time.Second)
	disk.Fill()
	p.stalls(1)
	p.turns()
	disk.Free()
	p.stalls(0)
	disk.Fill()
	p.turns()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v; log:\n%s", err, log)
	}
	for _, a := range box.All() {
		if !a.Firing() {
			t.Errorf("resolved during the fault: %+v", a)
		}
	}
	if f, err := baseline.ReadFile(state); err != nil || len(f.Jobs) != 1 || time.Since(f.Jobs[0].Saved) > time.Minute {
		t.Errorf("the state file has %+v (%v)", f.Jobs, err)
	}
	if kept := stage.Remembered(t, state, targetA()); kept < known {
		t.Errorf("the stored baselines have %v turns, had %v", kept, known)
	}
	if strings.Contains(log.String(), "panic") {
		t.Errorf("the program panicked:\n%s", log)
	}
}

// TestStandingStillIsSaid removes the directory of a running pager. The process keeps
// probing, stays ready and reports the fault.
func TestStandingStillIsSaid(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t)
	file := configFor(t, "", map[string]string{"a": server.URL})
	withAlerting(t, file, "alerting: {interval: 1s, directory: pager}\n")
	p := sidecarRun(t, file)
	p.stalls(0)
	dir := filepath.Join(filepath.Dir(file), "pager")
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	p.stalls(1)
	p.turns()
	for _, path := range []string{"/", "/alerts", "/api/alerts"} {
		if _, page := p.get(path); !strings.Contains(page, "reading the free space of") {
			t.Errorf("%s does not show why the pager is stalled: %s", path, page)
		}
	}
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d; log:\n%s", code, p.err)
	}
}

// stalls waits until synthetic_pager_stalled has the wanted value.
func (p *program) stalls(want float64) {
	p.t.Helper()
	p.until("synthetic_pager_stalled", func(s map[string]float64) bool { return s["synthetic_pager_stalled"] == want })
	code, text := p.get("/-/ready")
	if code != 200 || strings.Contains(text, "its pager has stopped") != (want == 1) {
		p.t.Errorf("/-/ready answers %d: %s", code, text)
	}
}

// turns waits until more turns have ended.
func (p *program) turns() {
	p.t.Helper()
	before, _ := sum(p.series(), "synthetic_turns_total")
	p.until("turns", func(s map[string]float64) bool { n, _ := sum(s, "synthetic_turns_total"); return n > before+10 })
}
