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
	"sync/atomic"
	"syscall"
	"time"
)

// life is one process from its start to its end.
type life struct {
	Number  int       `json:"number"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	How     string    `json:"how"` // "ended", "killed"
	cmd     *exec.Cmd
	exited  chan struct{}
	ready   atomic.Bool // whether it has ever been ready
	err     error       // the error of an ended process
	before  []int       // requests that each deployment had received at its start
	// final holds the counts read during the drain; nil if the process was killed.
	final counts
}

// program runs the binary, one life after the other, and reads its log.
type program struct {
	binary, dir, address string
	flags                []string // more flags
	log                  *os.File
	secret               *keyring

	mu    sync.Mutex
	now   *life
	lives []*life
	// alarms are events that must not occur.
	alarms []string
	logged int // bytes of the log, which one goroutine reads
}

// newProgram returns a program that will listen on a free port of loopback. It keeps its
// files in dir and its log in log.
func newProgram(binary, dir, log string, secret *keyring) (*program, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_ = l.Close() // the program takes the port over
	to, err := os.Create(log)
	return &program{binary: binary, dir: dir, address: l.Addr().String(), log: to, secret: secret}, err
}

// logLimit bounds the stored log. The rest is read and dropped.
const logLimit = 64 << 20

func (p *program) start(before []int) error {
	cmd := exec.Command(p.binary, append([]string{"run", "--config.file=" + p.config(), "--state.file=" + filepath.Join(p.dir, "disk", "state.json"),
		"--web.listen-address=" + p.address, "--web.enable-lifecycle", "--shutdown.timeout=12s"}, p.flags...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true} // an interrupt of the terminal is for this process only
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w; build it with make build", p.binary, err)
	}
	l := &life{Number: len(p.lives) + 1, Started: time.Now(), cmd: cmd, exited: make(chan struct{}), before: before}
	p.mu.Lock()
	p.now = l
	p.lives = append(p.lives, l)
	p.mu.Unlock()
	go func() {
		defer close(l.exited)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.read(lines.Text())
		}
		l.err = cmd.Wait()
		l.Ended = time.Now()
	}()
	return nil
}

func (p *program) config() string { return filepath.Join(p.dir, "synthetic.yml") }

// read handles a line of the log.
func (p *program) read(line string) {
	if p.logged += len(line); p.logged < logLimit {
		fmt.Fprintln(p.log, line)
	}
	for _, bad := range []string{"panic:", "fatal error:", "DATA RACE", "goroutine 1 ["} {
		if strings.Contains(line, bad) {
			p.alarm("log: " + line)
		}
	}
	if p.secret.leaks(line) {
		p.alarm("a key in the log")
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

// life returns the running process, nil if none runs.
func (p *program) life() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// signal sends a signal to the running process.
func (p *program) signal(s syscall.Signal) error {
	l := p.life()
	if l == nil {
		return errGone
	}
	return l.cmd.Process.Signal(s)
}

// awaitReady waits until /-/ready succeeds.
func (p *program) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if status, _, err := p.get(ctx, "/-/ready"); err == nil && status == http.StatusOK {
			p.life().ready.Store(true)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the program was not ready within a minute of its start: %w", ctx.Err())
		case <-p.life().exited:
			return fmt.Errorf("%w: %v", errGone, p.life().err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// renderedFor is how long /metrics may repeat an earlier rendering.
const renderedFor = 1200 * time.Millisecond

// leave ends the process with a signal and reads its last counts while it drains.
func (p *program) leave(s syscall.Signal) error {
	l := p.life()
	p.mu.Lock()
	p.now = nil // from here on, checkReady does not expect it to be ready
	p.mu.Unlock()
	if l == nil {
		return nil
	}
	select {
	case <-l.exited:
		return fmt.Errorf("%w: %v", errGone, l.err)
	default:
	}
	l.How = "killed"
	begin := time.Now()
	if err := l.cmd.Process.Signal(s); err != nil {
		return err
	}
	_ = l.cmd.Process.Signal(syscall.SIGCONT) // a stopped process does not end, and a killed one is gone
	deadline := time.After(40 * time.Second)
	for {
		select {
		case <-l.exited:
			if s == syscall.SIGTERM {
				l.How = "ended"
				if l.err != nil {
					p.alarm(fmt.Sprintf("life %d: SIGTERM, and then %v", l.Number, l.err))
				}
			}
			return nil
		case <-deadline:
			_ = l.cmd.Process.Kill()
			<-l.exited
			return errors.New("the program did not end within 40 s of SIGTERM")
		case <-time.After(200 * time.Millisecond):
		}
		if s == syscall.SIGTERM && time.Since(begin) > renderedFor {
			if c, err := p.counts(); err == nil {
				l.final = c
			}
		}
	}
}
