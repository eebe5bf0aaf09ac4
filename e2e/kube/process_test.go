package kube

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is the limit for events. Tests of a duration have their own limit.
const patience = 3 * time.Minute

// process is a server of the cluster. It ends with the cluster.
type process struct {
	name, log string
	cmd       *exec.Cmd
	// done is closed after the process has ended.
	done chan struct{}
}

// start runs a program. Its output goes to a file in the directory of logs.
func start(t *testing.T, logs, name string, argv ...string) *process {
	t.Helper()
	p := &process{name: name, log: filepath.Join(logs, name+".log"), cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // the result does not matter: it is killed
	}()
	t.Cleanup(p.end)
	return p
}

// end asks the process to end and kills it after five seconds.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

func (p *process) tail(lines int) string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(b)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// await polls until check returns nil. It fails the test after the limit or when one of the
// needed processes has ended.
func await(t *testing.T, limit time.Duration, condition string, check func() error, needed ...*process) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		for _, p := range needed {
			select {
			case <-p.done:
				t.Fatalf("waiting for %s: %s has ended:\n%s", condition, p.name, p.tail(15))
			default:
			}
		}
		select {
		case <-deadline:
			t.Fatalf("waiting for %s: timeout after %v: %v", condition, limit, err)
		case <-tick.C:
		}
	}
}

// mustEnv reads a variable that e2e/kube/run sets.
func mustEnv(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: run these tests with e2e/kube/run", name)
	}
	return v
}

// run runs a command and returns its output.
func run(t *testing.T, argv ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out), err
}
