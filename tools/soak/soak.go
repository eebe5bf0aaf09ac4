//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// soak is one run.
type soak struct {
	options
	dir     string
	begin   time.Time
	plan    schedule
	keys    *keyring
	set     settings
	mail    *mailbox
	program *program
	small   bool // whether the disk can be filled
	crowded atomic.Int32
	resume  func() // ends the present stall
	closers []func()

	mu      sync.Mutex
	samples []sample
	done    []string // descriptions of finished acts
	others  sync.WaitGroup
}

// prepare creates everything except the program.
func prepare(o options) (s *soak, err error) {
	s = &soak{options: o, resume: func() {}, plan: plan(o.duration, o.seed, o.stalls)}
	defer func() {
		if err != nil {
			s.clean()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "soak-"); err != nil {
		return s, err
	}
	s.closers = append(s.closers, func() { _ = os.RemoveAll(s.dir) }) // files that cannot be removed do no harm
	if err = s.mountDisk(); err != nil {
		return s, err
	}
	s.closers = append(s.closers, s.unmountDisk)
	if s.keys, err = newKeyring(s.dir); err != nil {
		return s, err
	}
	if err = s.openFleet(); err != nil {
		return s, err
	}
	if err = s.openProgram(); err != nil {
		return s, err
	}
	return s, s.openMail()
}

func (s *soak) openFleet() error {
	s.set.authority = filepath.Join(s.dir, "authority.pem")
	right, err := newCertificate(s.set.authority, true)
	if err != nil {
		return err
	}
	wrong, err := newCertificate(filepath.Join(s.dir, "other.pem"), false)
	if err != nil {
		return err
	}
	for i := range kept + churning {
		var pair [2]*tls.Certificate
		if i < kept && isTLS(i) {
			pair = [2]*tls.Certificate{right, wrong}
		}
		d, err := newDeployment(targetName(i), s.seed+uint64(i), soakFirstToken, s.keys, pair)
		if err != nil {
			return err
		}
		s.set.fleet = append(s.set.fleet, d)
		s.closers = append(s.closers, d.down)
	}
	return nil
}

func (s *soak) openProgram() (err error) {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("creating the directory of the report: %w", err)
	}
	if s.program, err = newProgram(s.binary, s.dir, filepath.Join(s.out, "program.log"), s.keys); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = s.program.log.Close() })
	return nil
}

func (s *soak) openMail() error {
	s.mail = &mailbox{secret: s.keys, alarm: s.program.alarm, pages: map[string]*page{}}
	address, err := serve(s.mail)
	s.set.keys, s.set.pager, s.set.mail = s.keys.path, filepath.Join(s.disk(), "pager"), "http://"+address
	return err
}

// clean stops and removes everything in reverse order.
func (s *soak) clean() {
	if s.program != nil {
		_ = s.program.leave(syscall.SIGKILL) // if the run was interrupted
	}
	for _, closer := range slices.Backward(s.closers) {
		closer()
	}
}

// play starts the program, performs the schedule and ends the program. A done ctx ends the
// run early and normally.
func (s *soak) play(ctx context.Context) error {
	s.begin = time.Now()
	s.mail.begin = s.begin
	if err := s.load(0); err != nil {
		return err
	}
	if err := s.launch(ctx); err != nil {
		return err
	}
	watching, stop := context.WithCancel(context.Background())
	defer s.others.Wait()
	defer stop()
	defer func() { s.resume() }()
	s.others.Go(func() { s.watch(watching) })
	for _, a := range s.plan.Acts {
		if !s.wait(ctx, a.At) {
			break
		}
		if err := s.act(ctx, watching, a); err != nil {
			return fmt.Errorf("after %v, %s: %w", time.Since(s.begin).Round(time.Second), a.Kind, err)
		}
	}
	s.wait(ctx, s.plan.Phases[len(s.plan.Phases)-1].To)
	for _, d := range s.set.fleet { // if the run was interrupted
		if err := d.set(healthy); err != nil {
			return err
		}
	}
	return s.end()
}

// end ends the program normally. A lingering turn makes the drain last, so that the last
// counts can be read.
func (s *soak) end() error {
	slow := s.set.fleet[kept]
	before := slow.count()
	if err := slow.set(lingering); err != nil {
		return err
	}
	for patience := time.Now().Add(15 * time.Second); slow.count() == before && time.Now().Before(patience); {
		time.Sleep(20 * time.Millisecond)
	}
	if err := s.program.leave(syscall.SIGTERM); err != nil {
		return err
	}
	return slow.set(healthy)
}

// wait waits for a time since the start. It returns false if the run has to end.
func (s *soak) wait(ctx context.Context, at time.Duration) bool {
	l := s.program.life()
	select {
	case <-ctx.Done():
		return false
	case <-l.exited:
		return true // the next act notices it
	case <-time.After(time.Until(s.begin.Add(at))):
		return true
	}
}

// launch starts a process and waits until it is ready.
func (s *soak) launch(ctx context.Context) error {
	var before []int
	for _, d := range s.set.fleet {
		before = append(before, d.count())
	}
	if err := s.program.start(before); err != nil {
		return err
	}
	return s.program.awaitReady(ctx)
}

// settle is how long requests of a killed process may still take to arrive.
const settle = time.Second

func (s *soak) act(ctx, watching context.Context, a act) error {
	s.note(a)
	switch a.Kind {
	case actFault:
		return s.set.fleet[a.On].set(a.Fault)
	case actReload:
		return s.load(a.On)
	case actRotate:
		return s.keys.rotate()
	case actFreeze:
		return s.freeze()
	case actStall:
		s.stall(watching, repeatedStalls()[a.On])
	case actCrowd:
		s.others.Go(func() { s.crowdIn(watching) })
	case actSlow:
		s.others.Go(func() { s.readSlowly(watching) })
	case actFull:
		s.fill()
	case actFree:
		s.free()
	case actMute:
		s.mail.mute.Store(true)
	case actUnmute:
		s.mail.mute.Store(false)
	case actKill:
		if err := s.program.leave(syscall.SIGKILL); err != nil {
			return err
		}
		time.Sleep(settle)
		return s.launch(ctx)
	case actRestart:
		if err := s.end(); err != nil {
			return err
		}
		return s.launch(ctx)
	}
	return nil
}

// load writes a configuration and makes a running program read it.
func (s *soak) load(i int) error {
	if err := configurations()[i].write(s.program.config(), s.set); err != nil || s.program.life() == nil {
		return err
	}
	return s.program.signal(syscall.SIGHUP)
}

// freeze stops the program for a second, like a busy machine.
func (s *soak) freeze() error {
	if err := s.program.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(time.Second)
	return s.program.signal(syscall.SIGCONT)
}

// stall replaces the present stall.
func (s *soak) stall(ctx context.Context, by stall) {
	s.resume()
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	s.resume = func() { cancel(); <-over }
	go func() {
		defer close(over)
		if err := by.inflict(ctx, s.program); err != nil {
			s.program.alarm(fmt.Sprintf("stalling the program: %v", err))
		}
	}()
}

// note records an act for the report.
func (s *soak) note(a act) {
	text := fmt.Sprintf("%6.0fs %s", time.Since(s.begin).Seconds(), a.Kind)
	switch a.Kind {
	case actFault:
		text += fmt.Sprintf(" %s %q", targetName(a.On), a.Fault)
	case actReload:
		text += ": " + configurations()[a.On].Name
	case actStall:
		text += ": " + repeatedStalls()[a.On].name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, text)
}
