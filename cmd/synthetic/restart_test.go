package main

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// TestKilledProcess kills and restarts the real program, which sends alerts over TCP. The
// alert continues with its original start.
func TestKilledProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for two pages in real time; make test-long runs it")
	}
	t.Parallel()
	box := &stage.Letterbox{Arrived: make(chan stage.Alert, 1000)}
	am := httptest.NewServer(box)
	defer am.Close()
	_, server := fastDeployment(t, befall(simulate.ErrorStatus, 1))
	file := configFor(t, "/v1", map[string]string{"a": server.URL})
	withAlerting(t, file, "alerting: {interval: 1s, directory: pager, alertmanagers: [{url: \""+am.URL+"\"}]}\n")
	ledger := filepath.Join(filepath.Dir(file), "pager", "alerts.json")
	begin := func() (kill func(), log fmt.Stringer) {
		cmd, _, errs := newProcess("run", "--config.file="+file, "--web.listen-address=127.0.0.1:0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // the error says that it was killed
		}, errs
	}
	kill, log := begin()
	first := box.Await(t, func(stage.Alert) bool { return true })
	saved := eventually(func() bool {
		text, err := os.ReadFile(ledger)
		return err == nil && strings.Contains(string(text), first.Labels["alertname"])
	})
	kill()
	if first.Labels == nil || !saved {
		t.Fatalf("no page, or no saved state:\n%s", log)
	}
	box.Drain()
	kill, log = begin()
	again := box.Await(t, func(a stage.Alert) bool { return maps.Equal(a.Labels, first.Labels) })
	kill()
	if !again.Firing() || !again.StartsAt.Equal(first.StartsAt) {
		t.Errorf("the alert after the kill is %+v, before it %+v\n%s", again, first, log)
	}
}

// eventually polls a condition for half a minute.
func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
