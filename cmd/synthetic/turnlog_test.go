package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"synthetic/tools/testkit/turns"
)

// endedRequests remembers when a server ended its answer to each request, by the ids of its trace and span.
type endedRequests struct {
	handler http.Handler
	mu      sync.Mutex
	at      map[string]time.Time
}

func (e *endedRequests) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.handler.ServeHTTP(w, r)
	parts := strings.Split(r.Header.Get("traceparent"), "-")
	if r.Method != http.MethodPost || len(parts) != 4 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at[parts[1]+"-"+parts[2]] = time.Now()
}

// before returns the ids of the requests that ended before a time.
func (e *endedRequests) before(t time.Time) (ids []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, at := range e.at {
		if at.Before(t) {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestSignalledTurnLog ends the real program while turns are in flight, and compares its turn log with the
// requests that the server answered. After SIGTERM no turn is missing, after SIGKILL at most those of the
// last 30 s.
func TestSignalledTurnLog(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		signal syscall.Signal
		// after is how long the program runs, lost the time before the signal whose turns may be missing.
		after, lost time.Duration
	}{
		"SIGTERM": {syscall.SIGTERM, 3 * time.Second, 0},
		"SIGKILL": {syscall.SIGKILL, 45 * time.Second, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && tt.lost > 0 {
				t.Skip("runs for longer than turns are held back; make test-long runs it")
			}
			t.Parallel()
			deployment, _ := fastDeployment(t)
			ended := &endedRequests{handler: deployment, at: map[string]time.Time{}}
			server := httptest.NewServer(ended)
			defer server.Close()
			cmd, log := withTurnLog(t, server.URL)
			time.Sleep(tt.after)
			signalled := time.Now()
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the error says that it was killed
			if tt.signal == syscall.SIGTERM && cmd.ProcessState.ExitCode() != exitOK {
				t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
			}
			server.Close() // ends when the last answer has ended
			if tt.lost == 0 {
				signalled = time.Now() // the turns in flight at SIGTERM are logged, too
			}
			logged, answered := turnIDs(t, log), ended.before(signalled.Add(-tt.lost))
			missing := slices.DeleteFunc(slices.Clone(answered), func(id string) bool { return logged[id] })
			if len(answered) < 10 || len(missing) > 0 {
				t.Errorf("%d of %d answered requests are missing from the log", len(missing), len(answered))
			}
			if all := ended.before(time.Now()); len(logged) > len(all) {
				t.Errorf("the log has %d turns of %d requests", len(logged), len(all))
			}
		})
	}
}

// withTurnLog starts the real program with turns that may last three minutes, so that the log holds them
// back for as long as it ever does. It returns the path of the log.
func withTurnLog(t *testing.T, url string) (*exec.Cmd, string) {
	t.Helper()
	file := configFor(t, "/v1", map[string]string{"a": url})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Replace(string(text), "total: 4s", "total: 3m", 1)
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	path, said := filepath.Join(t.TempDir(), "turns.jsonl"), newBuffer()
	cmd, _, _ := newProcess("run", "--config.file="+file, "--turns.file="+path, "--web.listen-address=127.0.0.1:0")
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // fails if it has ended
	said.find(t, listening)
	return cmd, path
}

// turnIDs reads the ids of the traces and spans of a turn log.
func turnIDs(t *testing.T, path string) map[string]bool {
	t.Helper()
	all, err := turns.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, turn := range all {
		id := turn.TraceID + "-" + turn.SpanID
		if ids[id] {
			t.Errorf("the turn %s is logged twice", id)
		}
		ids[id] = true
	}
	return ids
}
