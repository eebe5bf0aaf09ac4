//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a program that a test started and that ends with it.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	// done is closed when the process has ended and was waited for.
	done chan struct{}
}

// start runs a program with the variables of env added to the environment. Its
// output goes to a file, the end of which is shown when the test fails.
func start(t *testing.T, name string, env []string, argv ...string) *process {
	t.Helper()
	p := &process{name: name, cmd: exec.Command(argv[0], argv[1:]...), log: filepath.Join(t.TempDir(), name+".log"), done: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	// Pdeathsig ends the server also when the test binary is killed. It watches
	// the thread that forked, so the goroutine keeps that thread until the end.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer close(p.done)
		defer out.Close()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is of no interest: most are killed
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the end of %s's output:\n%s", name, p.tail(40))
		}
	})
	return p
}

// kill ends the process with SIGKILL and returns once it is gone, so that a
// connection to its port is refused and not left in a dying backlog.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it had ended already
	<-p.done
}

// signal sends a signal to the process.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("sending %v to %s: %v", s, p.name, err)
	}
}

// output returns all that the process has written so far.
func (p *process) output(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tail returns the last lines of the output.
func (p *process) tail(lines int) string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(b)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// errEnded says that a process is gone that should be running.
var errEnded = errors.New("the process has ended")

// patience is how long to wait for what has to come, and comes within seconds on
// an idle machine. A test that is about how soon has its own limit.
const patience = 4 * time.Minute

// await polls until check returns nil, and fails the test after the limit or
// as soon as one of the processes has ended.
func await(t *testing.T, limit time.Duration, what string, check func() error, needed ...*process) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		for _, p := range needed {
			select {
			case <-p.done:
				t.Fatalf("waiting for %s: %s: %v", what, p.name, errEnded)
			default:
			}
		}
		select {
		case <-deadline:
			t.Fatalf("waiting for %s: still not after %v: %v", what, limit, err)
		case <-tick.C:
		}
	}
}

// awaitAnswer waits until a process answers well at a URL.
func awaitAnswer(t *testing.T, p *process, url string) {
	t.Helper()
	await(t, patience, p.name+" to answer", func() error {
		_, err := get(t.Context(), url)
		return err
	}, p)
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress(t *testing.T) (host string, port int) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port = l.Addr().(*net.TCPAddr).Port
	return fmt.Sprintf("127.0.0.1:%d", port), port
}

// command runs a program to its end and returns what it wrote.
func command(t *testing.T, path string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	return string(out), err
}
