package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/watch"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

var killsFlag = flag.Int("kills", 20, "how often TestKilledAnywhere kills the program")

// TestKilledAnywhere kills the real program at random moments, also while it starts and
// while it saves, and starts it again. Its files stay valid, the alert of a lasting fault
// is sent and never resolved, and temporary files are removed at the next start.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	kills := *killsFlag
	if testing.Short() {
		kills = 4
	}
	random := rand.New(rand.NewPCG(1, uint64(kills)))
	_, server := fastDeployment(t, befall(simulate.ErrorStatus, 0.5))
	h := newHospital(t, server.URL)
	for range kills {
		p := h.begin()
		if random.IntN(4) > 0 {
			p.find(t, listening)
		}
		time.Sleep(time.Duration(random.Int64N(int64(1500 * time.Millisecond)))) // at any moment
		if random.IntN(3) == 0 {
			h.save(random.Int64N(int64(60 * time.Millisecond)))
		}
		h.kill()
		h.whole()
	}
	p := h.begin()
	p.find(t, listening)
	h.clean()
	if !testing.Short() { // the page takes half a minute
		awaitPage(t, h.box, p)
		p.find(t, `msg="An alert fires" alert=Synthetic\w+ severity=page`)
	}
	if over := h.over(); len(over) > 0 {
		t.Errorf("resolved during the fault: %+v", over)
	}
	t.Logf("%d kills: %d alerts received, %d different, %d temporary files, %d half hours stored",
		kills, len(h.box.All()), len(h.starts), h.left, h.halfHours)
	if code := h.end(); code != exitOK {
		t.Errorf("exit code %d; log:\n%s", code, p)
	}
}

const listening = `msg="Listening on" address=(\S+)`

// awaitPage waits for a page. Without one, the test prints the alerts and the log of the
// program.
func awaitPage(t *testing.T, box *stage.Letterbox, log *buffer) {
	t.Helper()
	box.Await(t, func(a stage.Alert) bool { return a.Firing() && a.Labels["severity"] == "page" })
	if !t.Failed() {
		return
	}
	p := &program{t: t, err: log, base: "http://" + log.find(t, listening)}
	for series, v := range p.series() {
		if !strings.Contains(series, "_bucket{") && v != 0 {
			t.Log(series, v)
		}
	}
	_, alerts := p.get("/api/status")
	t.Logf("%s\n%s", alerts, log)
}

// hospital kills and restarts one program.
// temporary matches the names of the temporary files of internal/atomicfile.
var temporary = regexp.MustCompile(`^\..+\d{10,}$`)

type hospital struct {
	t      *testing.T
	box    *stage.Letterbox
	dir    string
	args   []string
	cmd    *exec.Cmd
	log    *buffer
	strays []string // temporary files that the last killed process left
	// halfHours are those in the stored history after the last kill.
	halfHours int
	// starts holds the start of each alert that was on disk at a kill, heard counts the
	// alerts that were compared with them, and left counts all temporary files.
	starts      map[string]time.Time
	heard, left int
}

func newHospital(t *testing.T, url string) *hospital {
	h := &hospital{t: t, box: &stage.Letterbox{Arrived: make(chan stage.Alert, 10000)}, starts: map[string]time.Time{}}
	am := httptest.NewServer(h.box)
	t.Cleanup(am.Close)
	file := configFor(t, "/v1", map[string]string{"a": url})
	withAlerting(t, file, "alerting: {interval: 1s, directory: pager, alertmanagers: [{url: \""+am.URL+"\"}]}\n")
	h.dir = filepath.Dir(file)
	remember(t, h.state())
	h.args = []string{"run", "--config.file=" + file, "--state.file=" + h.state(), "--web.listen-address=127.0.0.1:0", "--shutdown.timeout=1s"}
	t.Cleanup(h.kill)
	return h
}

func (h *hospital) state() string  { return filepath.Join(h.dir, "baselines.json") }
func (h *hospital) alerts() string { return filepath.Join(h.dir, "pager", "alerts.json") }

func (h *hospital) begin() *buffer {
	h.t.Helper()
	h.log = newBuffer()
	h.cmd, _, _ = newProcess(h.args...)
	h.cmd.Stderr = h.log
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	return h.log
}

// save makes the program shut down, and waits before it is killed.
func (h *hospital) save(while int64) {
	_ = h.cmd.Process.Signal(syscall.SIGTERM) // whole checks whether the program ended by itself
	time.Sleep(time.Duration(while))
}

func (h *hospital) kill() {
	if h.cmd == nil {
		return
	}
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait() // the error says that it was killed
	h.cmd = nil
}

// end stops the program and returns its exit code.
func (h *hospital) end() int {
	h.t.Helper()
	cmd := h.cmd
	h.cmd = nil
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		h.t.Error(err)
	}
	_ = cmd.Wait() // the exit code is read below
	return cmd.ProcessState.ExitCode()
}

// whole checks the files of a killed program.
func (h *hospital) whole() {
	h.t.Helper()
	h.clean()
	for _, bad := range []string{"panic:", "synthetic: "} {
		if strings.Contains(h.log.String(), bad) {
			h.t.Fatalf("the program ended before it was killed:\n%s", h.log)
		}
	}
	h.goesOn()
	if _, err := watch.ReadFile(h.state()); err != nil {
		h.t.Fatal(err)
	}
	halfHours := stage.Remembered(h.t, h.state(), targetA())
	if halfHours < h.halfHours {
		h.t.Errorf("the history had %d half hours and now has %d", h.halfHours, halfHours)
	}
	h.halfHours, h.strays = halfHours, nil
	_ = filepath.WalkDir(h.dir, func(path string, e fs.DirEntry, _ error) error {
		if temporary.MatchString(e.Name()) || strings.Contains(e.Name(), ".tmp") {
			h.strays = append(h.strays, path)
		}
		return nil
	})
	h.left += len(h.strays)
}

// clean checks that a program that served has removed the temporary files of the previous
// one.
func (h *hospital) clean() {
	h.t.Helper()
	if !strings.Contains(h.log.String(), "Listening on") {
		return
	}
	for _, path := range h.strays {
		if _, err := os.Stat(path); err == nil {
			h.t.Errorf("%s is still there", path)
		}
	}
}

// goesOn checks that alerts sent since the last kill have the start that was on disk then.
// It records the alerts that are on disk now.
func (h *hospital) goesOn() {
	h.t.Helper()
	alerts := h.box.All()
	for _, a := range alerts[h.heard:] {
		if began, known := h.starts[fmt.Sprint(a.Labels)]; known && !a.StartsAt.Equal(began) {
			h.t.Errorf("%v began at %v before a kill and at %v after it", a.Labels, began, a.StartsAt)
		}
	}
	h.heard = len(alerts)
	text, err := os.ReadFile(h.alerts())
	if errors.Is(err, fs.ErrNotExist) {
		return // killed before the first alert
	}
	var kept struct {
		Alerts []struct {
			Labels   map[string]string `json:"labels"`
			StartsAt time.Time         `json:"starts_at"`
		} `json:"alerts"`
	}
	if err := errors.Join(err, json.Unmarshal(text, &kept)); err != nil {
		h.t.Fatalf("the alerts are damaged: %v in %s", err, text)
	}
	for _, a := range kept.Alerts {
		h.starts[fmt.Sprint(a.Labels)] = a.StartsAt
	}
}

// over returns the resolved alerts that the Alertmanager received.
func (h *hospital) over() (ends []stage.Alert) {
	for _, a := range h.box.All() {
		if !a.Firing() {
			ends = append(ends, a)
		}
	}
	return ends
}

// targetA is the job of most tests.
func targetA() probe.Key { return probe.Key{Target: "a", Workload: "chat"} }

// remember writes a state file with days of baselines of the job.
func remember(t *testing.T, state string) {
	t.Helper()
	stage.Remember(t, state, targetA(), [2]time.Duration{18 * time.Millisecond, 18 * time.Millisecond})
}
