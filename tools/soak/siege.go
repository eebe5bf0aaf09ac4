//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// siege runs the attacks whose names contain the given part, one after the other, and
// prints their results. failed is true if the memory exceeded the limit or a turn is not
// accounted for.
func siege(ctx context.Context, o options) (failed bool, err error) {
	fmt.Printf("%d targets, %v each\n\n| attack | largest RSS, MB | CPU, s | turns | of them by outcome | unaccounted |\n|---|---|---|---|---|---|\n", o.targets, o.each)
	for _, a := range attacks() {
		if !strings.Contains(a.name, o.only) || ctx.Err() != nil {
			continue
		}
		result, err := a.run(ctx, o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Printf("| %s | %.0f | %.1f | %.0f | %s | %.0f |\n", a.name, result.rss/megabyte, result.cpu.Seconds(), result.Started, result.words(), result.unaccounted())
		failed = failed || result.rss > maxRSS || result.unaccounted() != 0
	}
	return failed, nil
}

// outcome is the result of an attack: the turns of all targets, the requests that the
// targets received, and the largest resident memory in bytes.
type outcome struct {
	tally
	received, rss float64
	cpu           time.Duration
}

// unaccounted is the difference between the turns that the program sent and the requests
// that the targets received.
func (o outcome) unaccounted() float64 { return o.Started - o.Failed["not_sent"] - o.received }

// words lists the outcomes.
func (o outcome) words() string {
	ended := maps.Clone(o.Failed)
	ended["success"] = o.Ended
	for _, n := range o.Failed {
		ended["success"] -= n
	}
	return strings.Join(listOf(ended), ", ")
}

// run runs the program under the attack.
func (a attack) run(ctx context.Context, o options) (result outcome, err error) {
	dir, err := os.MkdirTemp("", "siege-")
	if err != nil {
		return result, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // files that cannot be removed do no harm
	w, err := a.world(dir, o)
	if err != nil {
		return result, err
	}
	defer w.program.log.Close()
	if err := w.program.start(nil); err != nil {
		return result, err
	}
	l := w.program.life()
	defer func() { // the log is removed with the directory
		if err != nil {
			log, _ := os.ReadFile(w.program.log.Name())
			err = fmt.Errorf("%w\n%s", err, log)
		}
		err = errors.Join(err, w.program.leave(syscall.SIGKILL))
		if l.cmd.ProcessState != nil {
			result.cpu = l.cmd.ProcessState.UserTime() + l.cmd.ProcessState.SystemTime()
		}
	}()
	if err := w.program.awaitReady(ctx); err != nil {
		return result, err
	}
	var scrapers sync.WaitGroup
	crowded, leave := context.WithTimeout(ctx, o.each)
	for range a.scrapers {
		scrapers.Go(func() { a.scrape(crowded, w.program.address) })
	}
	<-crowded.Done()
	leave()
	scrapers.Wait()
	// Start no further conversations. At this rate no objective can be judged.
	if err := errors.Join(w.configure(0.0001, "slos: []\n"), w.program.signal(syscall.SIGHUP)); err != nil {
		return result, err
	}
	c, err := w.program.settle(w.received)
	if err != nil {
		return result, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.cmd.Process.Pid))
	return outcome{tally: c.sum(), received: w.received(), rss: 1024 * field(status, "VmHWM:")}, err
}

// world is the program and the targets of an attack.
type world struct {
	attack
	program   *program
	upstreams []*upstream
	targets   string // targets of the configuration, as YAML
}

func (a attack) world(dir string, o options) (*world, error) {
	w := &world{attack: a}
	for i := range o.targets {
		u := &upstream{attack: a, hostile: i%4 != 0}
		address, err := serve(u)
		if err != nil {
			return nil, err
		}
		w.upstreams = append(w.upstreams, u)
		w.targets += fmt.Sprintf("  - {name: t%02d, model: m, base_url: \"http://%s/v1\"", i, address)
		if a.page > 0 {
			w.targets += ", server_metrics: {}"
		}
		w.targets += "}\n"
	}
	var err error
	if w.program, err = newProgram(o.binary, dir, filepath.Join(dir, "program.log"), &keyring{}); err != nil {
		return nil, err
	}
	return w, errors.Join(os.Mkdir(filepath.Join(dir, "disk"), 0o700), w.configure(0.5, ""))
}

// configure writes a configuration that probes every target at a rate of conversations per
// second. more is appended.
func (w *world) configure(rate float64, more string) error {
	return os.WriteFile(w.program.config(), fmt.Appendf(nil, `targets:
%sworkloads:
  - {name: chat, turns: {min: 3, max: 5}, prompt_tokens: 500, followups: {tokens: 30}, think_time: {min: 0s, max: 1s}, timeouts: {first_token: 10s, stall: 5s, total: 20s}}
traffic:
  - {targets: "*", workload: chat, arrival: {process: poisson, rate: %v}}
alerting: {}
%s`, w.targets, rate, more), 0o600)
}

// settle waits for the end of the last turn and for a newer rendering of /metrics, when no new
// conversations start. received counts the requests that arrived.
func (p *program) settle(received func() float64) (counts, error) {
	before := 0.0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(1500 * time.Millisecond) {
		c, err := p.counts()
		came := received()
		if err == nil && c.sum().InFlight == 0 && came == before {
			return c, nil
		}
		before = came
	}
	return nil, errors.New("turns are in flight a minute after the last conversation began")
}

func (w *world) received() (all float64) {
	for _, u := range w.upstreams {
		all += float64(u.received.Load())
	}
	return all
}
