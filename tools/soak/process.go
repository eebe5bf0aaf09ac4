//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// program runs the binary, and reads its log.
type program struct {
	binary, dir, address string
	log                  *os.File
	cmd                  *exec.Cmd
	exited               chan struct{}
	err                  error // of the ended process

	mu     sync.Mutex
	alarms []string // events that must not occur
}

// newProgram returns a program that will listen on a free port of loopback. It keeps its
// files and its log in dir.
func newProgram(binary, dir string) (*program, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_ = l.Close() // the program takes the port over
	to, err := os.Create(filepath.Join(dir, "program.log"))
	return &program{binary: binary, dir: dir, address: l.Addr().String(), log: to, exited: make(chan struct{})}, err
}

func (p *program) start(flags ...string) error {
	cmd := exec.Command(p.binary, append([]string{"run", "--config.file=" + p.config(), "--web.listen-address=" + p.address, "--shutdown.timeout=12s"}, flags...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true} // an interrupt of the terminal is for this process only
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w; build it with make build", p.binary, err)
	}
	p.cmd = cmd
	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.read(lines.Text())
		}
		p.err = cmd.Wait()
	}()
	return nil
}

func (p *program) config() string { return filepath.Join(p.dir, "synthetic.yml") }

// read handles a line of the log.
func (p *program) read(line string) {
	fmt.Fprintln(p.log, line)
	for _, bad := range []string{"panic:", "fatal error:", "DATA RACE", "goroutine 1 ["} {
		if strings.Contains(line, bad) {
			p.alarm("log: " + line)
		}
	}
}

// alarm records an event that must not occur.
func (p *program) alarm(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.alarms) < 20 {
		p.alarms = append(p.alarms, text)
	}
}

func (p *program) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// awaitReady waits until /-/ready succeeds.
func (p *program) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if status, _, err := p.get(ctx, "/-/ready"); err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the program was not ready within a minute of its start: %w", ctx.Err())
		case <-p.exited:
			return fmt.Errorf("the program ended by itself: %v", p.err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// leave ends the process with a signal.
func (p *program) leave(s syscall.Signal) error {
	_ = p.signal(s)
	_ = p.signal(syscall.SIGCONT) // a stopped process does not end
	select {
	case <-p.exited:
		return nil
	case <-time.After(40 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return errors.New("the program did not end within 40 s of SIGTERM")
	}
}
