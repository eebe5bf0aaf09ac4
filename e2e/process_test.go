//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
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

// process is a program that a test started. It ends with the test.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	// done is closed after the process has ended.
	done chan struct{}
}

// start runs a program with additional environment variables. Its output goes to a file,
// and a failed test prints the end of it.
func start(t *testing.T, name string, env []string, argv ...string) *process {
	t.Helper()
	p := &process{name: name, cmd: exec.Command(argv[0], argv[1:]...), log: filepath.Join(t.TempDir(), name+".log"), done: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	// Pdeathsig also ends the program when the test binary is killed. It depends on the
	// thread that forked, so this goroutine keeps its thread until the end.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer close(p.done)
		defer out.Close()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the result does not matter: most processes are killed
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

// kill ends the process with SIGKILL and waits for its end, so that new connections to its
// port are refused instead of queued.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if it has ended
	<-p.done
}

// signal sends a signal to the process.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("sending %v to %s: %v", s, p.name, err)
	}
}

// output returns the output so far.
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

// errEnded: a process that should be running has ended.
var errEnded = errors.New("the process has ended")

// patience is the limit for events that take seconds on an idle machine. Tests of a
// duration have their own limit.
const patience = 4 * time.Minute

// await polls until check returns nil. It fails the test after the limit or when one of the
// needed processes has ended.
func await(t *testing.T, limit time.Duration, condition string, check func() error, needed ...*process) {
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
				t.Fatalf("waiting for %s: %s: %v", condition, p.name, errEnded)
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

// awaitAnswer waits until a URL returns status 200.
func awaitAnswer(t *testing.T, p *process, url string) {
	t.Helper()
	await(t, patience, p.name+" to answer", func() error {
		_, err := get(t.Context(), url)
		return err
	}, p)
}

// freeAddress returns a free loopback address. Its port is below those that the kernel gives to sockets of their own
// accord, so that none of them takes it before the server that is given it.
func freeAddress(t *testing.T) (host string, port int) {
	t.Helper()
	for range 100 {
		port = 10240 + rand.IntN(32768-10240)
		host = fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp4", host); err == nil {
			_ = l.Close()
			return host, port
		}
	}
	t.Fatal("no free port below 32768 in 100 tries")
	return "", 0
}

// command runs a program and returns its output.
func command(t *testing.T, path string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	return string(out), err
}
