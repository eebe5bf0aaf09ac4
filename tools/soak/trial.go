//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/alerting"
	"synthetic/internal/load"
	"synthetic/tools/testkit/stage"
	"synthetic/tools/testkit/turns"
)

// trial is one program under a stall, with a target for each fault and many healthy ones. Each
// fault is a cell of the campaign.
type trial struct {
	stall
	options
	faults  []fault
	dir     string
	fleet   []*deployment // by fault
	sound   *deployment
	program *program
	pager   *alerting.Pager
	mail    stage.Letterbox
	closers []func()

	// onset is when faults and stall began, lasted how long they did.
	onset  time.Time
	lasted time.Duration
	counts counts
	logged map[string]*turnCounts // by target
	pages  []page
}

// turnCounts counts the turns of a target in the turn log.
type turnCounts struct{ all, failed, own int }

// Conversations per second with a failing and with a healthy target. An outage is then five
// failed turns.
const campaignRate, soundRate = 0.25, 0.05

// tooRare is so low a rate that no conversation starts before the trial ends.
const tooRare = 0.0001

// configure writes the configuration with rates of conversations per second.
func (t *trial) configure(failingRate, healthyRate float64) error {
	var out, failing, healthy strings.Builder
	out.WriteString("targets:\n")
	add := func(names *strings.Builder, name string, d *deployment) {
		fmt.Fprintf(&out, "  - {name: %s, base_url: %q, model: simulated-chat}\n", name, d.url())
		fmt.Fprintf(names, "%q, ", name)
	}
	for _, d := range t.fleet {
		add(&failing, d.name, d)
	}
	for i := range sound {
		add(&healthy, fmt.Sprintf("sound-%02d", i), t.sound)
	}
	fmt.Fprintf(&out, `workloads:
  - name: chat
    turns: {min: 2, max: 2}
    prompt_tokens: 60
    starters: 3
    followups: {tokens: 10}
    max_output_tokens: 24
    think_time: {min: 0s, max: 100ms}
    timeouts: {first_token: 4s, stall: 3s, total: 8s}
traffic:
  - {targets: [%s], workload: chat, arrival: {process: constant, rate: %v}, max_concurrency: 8}
  - {targets: [%s], workload: chat, arrival: {process: constant, rate: %v}, max_concurrency: 8}
slos:
  - {name: ttft, sli: ttft, threshold: %v, objective: 99%%}
  - {name: availability, sli: availability, objective: 99%%}
`, strings.TrimSuffix(failing.String(), ", "), failingRate, strings.TrimSuffix(healthy.String(), ", "), healthyRate, 2*firstToken)
	return os.WriteFile(t.program.config(), []byte(out.String()), 0o600)
}

// campaignInterval is the interval between scrapes, and of rules.
const campaignInterval = 5 * time.Second

// openPager prepares what scrapes the program and evaluates its rules: in this process, because
// a stopped program stops its own pager, too.
func (t *trial) openPager() error {
	rules := filepath.Join(t.dir, "rules")
	generate := exec.Command(t.binary, "generate", "rules", "--config.file="+t.program.config(), "--output.dir="+rules)
	if out, err := generate.CombinedOutput(); err != nil {
		return fmt.Errorf("generating the rules: %w\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(rules, "synthetic-rules.yml"))
	if err != nil {
		return err
	}
	mail := httptest.NewServer(&t.mail)
	t.closers = append(t.closers, mail.Close)
	t.pager, err = alerting.New(alerting.Options{
		Gatherer: prometheus.GathererFunc(t.gather), Interval: campaignInterval,
		Rules:         text,
		Alertmanagers: []alerting.Alertmanager{{URL: mail.URL}},
	})
	if err == nil {
		t.closers = append(t.closers, func() { _ = t.pager.Close() }) // if it has not run
	}
	return err
}

// gather scrapes the program. As with Prometheus, a failed scrape has no series.
func (t *trial) gather() ([]*dto.MetricFamily, error) {
	families, err := t.program.metrics(context.Background())
	var out []*dto.MetricFamily
	for _, f := range families {
		out = append(out, f)
	}
	return out, err
}

// run performs the trial.
func (t *trial) run(ctx context.Context) error {
	if err := t.program.awaitReady(ctx); err != nil {
		return err
	}
	var parts sync.WaitGroup
	defer parts.Wait()
	paging, endPaging := context.WithCancel(context.Background())
	defer endPaging()
	parts.Go(func() { _ = t.pager.Run(paging) }) // a failure at its end loses nothing here
	if !load.Pause(ctx, warmUp) {
		return ctx.Err()
	}
	if err := t.fail(ctx); err != nil {
		return err
	}
	endPaging()
	parts.Wait()
	t.pages = pages(&t.mail)
	return t.count()
}

// fail makes the targets fail and stalls the program.
func (t *trial) fail(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.each)
	defer cancel()
	t.onset = time.Now()
	for _, d := range t.fleet {
		d.set(fault(d.name))
	}
	err := t.inflict(ctx, t.program)
	t.lasted = time.Since(t.onset)
	return err
}

// count starts no more conversations, waits for the end of the last turn, ends the program, and
// reads the counts of the program and of its turn log.
func (t *trial) count() error {
	if err := errors.Join(t.configure(tooRare, tooRare), t.program.signal(syscall.SIGHUP)); err != nil {
		return err
	}
	var err error
	if t.counts, err = t.program.settle(func() float64 { return t.received(append(slices.Clone(t.fleet), t.sound)...) }); err != nil {
		return err
	}
	if err := t.program.leave(syscall.SIGTERM); err != nil {
		return err
	}
	return t.readLog()
}

func (t *trial) received(of ...*deployment) (n float64) {
	for _, d := range of {
		n += float64(d.count())
	}
	return n
}

// readLog counts the turns of the turn log.
func (t *trial) readLog() error {
	logged, err := turns.Read(t.turns())
	if err != nil {
		return err
	}
	t.logged = map[string]*turnCounts{}
	for _, turn := range logged {
		c := t.logged[turn.Target]
		if c == nil {
			c = &turnCounts{}
			t.logged[turn.Target] = c
		}
		c.all++
		switch {
		case turn.Outcome.OwnFault():
			c.own++
		case turn.Outcome.Failed():
			c.failed++
		}
	}
	return nil
}

// page is one firing period of an alert. Its labels and its start identify it.
type page struct {
	Alert, Target, Severity string
	Labels                  string
	Arrived                 time.Time
}

// pages returns the firing periods in the order in which they arrived.
func pages(mail *stage.Letterbox) (out []page) {
	known := map[string]bool{}
	for _, a := range mail.All() {
		l := a.Labels
		if key := fmt.Sprint(l, a.StartsAt.UnixMilli()); !known[key] {
			known[key] = true
			out = append(out, page{Alert: l["alertname"], Target: l["target"], Severity: l["severity"], Labels: fmt.Sprint(l), Arrived: a.At})
		}
	}
	return out
}
