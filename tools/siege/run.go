//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// outcome is what an attack did.
type outcome struct {
	megabytes                  int
	cpu                        time.Duration
	started, notSent, received int64
	outcomes                   string
}

// unaccounted is how many turns the program started and the targets did not get,
// or the other way round.
func (o outcome) unaccounted() int64 { return o.started - o.notSent - o.received }

// run holds the program against the attack.
func (a attack) run(ctx context.Context, o options) (outcome, error) {
	dir, err := os.MkdirTemp("", "siege-")
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover there harms nobody
	w, err := a.world(dir, o.targets)
	if err != nil {
		return outcome{}, err
	}
	if err := w.start(o.binary); err != nil {
		return outcome{}, err
	}
	defer w.kill()
	var scrapers sync.WaitGroup
	crowded, leave := context.WithTimeout(ctx, o.each)
	for range a.scrapers {
		scrapers.Go(func() { a.scrape(crowded, w.address) })
	}
	<-crowded.Done()
	leave()
	scrapers.Wait()
	if err := w.calm(); err != nil {
		return outcome{}, err
	}
	return w.settle()
}

// world is an attack with its targets and the program.
type world struct {
	attack
	file, address string
	upstreams     []*upstream
	targets       string // of the configuration
	followups     string
	log           bytes.Buffer
	cmd           *exec.Cmd
	ended         chan struct{} // closed at the end of the program, of which err is how
	err           error
}

func (a attack) world(dir string, targets int) (*world, error) {
	w := &world{attack: a, file: filepath.Join(dir, "synthetic.yml"), followups: "{tokens: 30}", ended: make(chan struct{})}
	for i := range targets {
		u := &upstream{attack: a, hostile: i%4 != 0}
		address, err := serve(u)
		if err != nil {
			return nil, err
		}
		w.upstreams = append(w.upstreams, u)
		w.targets += fmt.Sprintf("  - {name: t%02d, model: m, base_url: \"http://%s/v1\"", i, address)
		if a.page > 0 {
			w.targets += ", server_metrics: {interval: 5s}"
		}
		w.targets += "}\n"
	}
	if a.reply > 0 {
		address, err := serve(http.HandlerFunc(a.user))
		if err != nil {
			return nil, err
		}
		w.followups = fmt.Sprintf("{user: {base_url: \"http://%s/v1\"}}", address)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // the program will take its port
	if err != nil {
		return nil, err
	}
	w.address = l.Addr().String()
	return w, errors.Join(l.Close(), w.configure(0.5, ""))
}

// configure has every target probed by so many conversations a second; more are
// further lines.
func (w *world) configure(rate float64, more string) error {
	return os.WriteFile(w.file, fmt.Appendf(nil, `targets:
%sworkloads:
  - {name: chat, turns: {min: 3, max: 5}, prompt_tokens: 500, followups: %s, think_time: {min: 0s, max: 1s}, timeouts: {first_token: 10s, stall: 5s, total: 20s}}
traffic:
  - {targets: "*", workload: chat, arrival: {process: poisson, rate: %v}}
alerting: {}
%s`, w.targets, w.followups, rate, more), 0o600)
}

func (w *world) start(binary string) error {
	w.cmd = exec.Command(binary, "run", "--config.file="+w.file, "--web.listen-address="+w.address)
	w.cmd.Stderr = &w.log
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for us
	if err := w.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w; build it with make build", binary, err)
	}
	go func() {
		defer close(w.ended)
		w.err = w.cmd.Wait()
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, err := w.counts(); err == nil {
			return nil
		}
	}
	w.kill()
	return fmt.Errorf("the program does not answer on %s", w.address)
}

// calm has no new conversation begin: so few could not be judged by an objective.
func (w *world) calm() error {
	select {
	case <-w.ended:
		return fmt.Errorf("the program ended: %w\n%s", w.err, w.log.String())
	default:
	}
	return errors.Join(w.configure(0.0001, "slos: []\n"), w.cmd.Process.Signal(syscall.SIGHUP))
}

// settle waits for the last turn, and for a page that is newer than it.
func (w *world) settle() (outcome, error) {
	var before int64
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(1500 * time.Millisecond) {
		c, err := w.counts()
		received := w.received()
		quiet := err == nil && c.inFlight == 0 && received == before
		if before = received; quiet {
			megabytes, err := peak(w.cmd.Process.Pid)
			return outcome{
				megabytes: megabytes, cpu: used(w.cmd.Process.Pid),
				started: c.started, notSent: c.ended["not_sent"], received: received, outcomes: c.words(),
			}, err
		}
	}
	return outcome{}, fmt.Errorf("turns are in flight a minute after the last conversation began; log:\n%s", w.log.String())
}

func (w *world) received() (all int64) {
	for _, u := range w.upstreams {
		all += u.received.Load()
	}
	return all
}

// kill ends the program, at once.
func (w *world) kill() {
	_ = w.cmd.Process.Kill() // unless it has ended
	<-w.ended
}

// words are the outcomes that there were.
func (c counts) words() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.ended)) {
		if n := c.ended[name]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, name))
		}
	}
	return strings.Join(out, ", ")
}
