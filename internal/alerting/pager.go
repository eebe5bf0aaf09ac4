// Package alerting pages without a Prometheus server. It gathers from a registry in its own
// process, keeps the series that the alert rules read in memory, evaluates the rules with
// Prometheus' own rule groups, and notifies Alertmanagers. It writes one file, the state of the alerts,
// so a full disk stops nothing. See docs/how-to/pager.md.
package alerting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"

	"synthetic/internal/atomicfile"
)

// Options configure a Pager. Gatherer and Rules are required.
type Options struct {
	Gatherer prometheus.Gatherer
	// Rules is the text of a Prometheus rule file. Groups without an interval use Interval.
	Rules []byte
	// Interval between two scrapes; 0 means 15s.
	Interval time.Duration
	// Dir keeps the alerts across restarts, for one process at a time. "" keeps nothing.
	Dir string
	// Alertmanagers to notify; may be empty.
	Alertmanagers []Alertmanager
	// ExternalLabels are added to every alert that does not have them.
	ExternalLabels map[string]string
	// ExternalURL is the address of the status page; "" for none.
	ExternalURL string
	// Instance is the value of the label instance; "" means the host name.
	Instance string
	// OnChange is called when an alert starts to fire or ends. It must be quick: the rules wait for it.
	OnChange func(Transition)
	// Dial opens the connections to Alertmanagers; nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Logger logs what the pager does, EngineLogger what Prometheus' parts log; nil logs nothing.
	Logger, EngineLogger *slog.Logger
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
}

// Pager evaluates alert rules and delivers alerts. Use New, then Run or Close.
type Pager struct {
	options Options
	clock   *clock
	syntax  parser.Parser
	engine  *promql.Engine
	memory  *memory
	// instance are labels of every series, scrapes is the number of scrapes.
	instance labels.Labels
	scrapes  uint64
	states   *alertStates
	disk     disk
	sender   sender
	// Health and Groups take no lock, because the pager's own scrape calls them.
	rules, next atomic.Pointer[ruleSet] // next replaces rules before the next scrape
	work        work
}

// New checks rules and Alertmanagers, and reads the alerts of an earlier process.
func New(o Options) (*Pager, error) {
	host, err := os.Hostname()
	if o.Instance = cmp.Or(o.Instance, host); o.Instance == "" {
		return nil, fmt.Errorf("reading the host name, which is the label instance: %w", err)
	}
	o.Interval = cmp.Or(o.Interval, 15*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.EngineLogger = cmp.Or(o.EngineLogger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnChange == nil {
		o.OnChange = func(Transition) {}
	}
	p := &Pager{
		options: o, syntax: parser.NewParser(parser.Options{}), memory: &memory{byName: map[string]map[string]*series{}},
		clock: &clock{wall: o.Now, base: o.Now().Round(0), start: time.Now()}, disk: disk{saves: make(chan chan struct{})},
		instance: labels.FromStrings("instance", o.Instance, "job", "synthetic"),
	}
	p.states = &alertStates{clock: p.clock, external: labels.FromMap(o.ExternalLabels), onChange: o.OnChange, byID: map[uint64]*alertState{}}
	p.engine = promql.NewEngine(promql.EngineOpts{
		Logger: o.EngineLogger, MaxSamples: 5_000_000, Timeout: time.Minute,
		// A sample is current for five minutes, as in Prometheus, or longer with rare scrapes.
		LookbackDelta: max(5*time.Minute, 4*o.Interval), Parser: p.syntax, EnableAtModifier: true,
	})
	if err := p.prepare(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Pager) prepare() error {
	set, err := p.load(p.options.Rules)
	if err != nil {
		return err
	}
	p.rules.Store(set)
	if err := p.newNotifier(); err != nil || p.options.Dir == "" {
		return err
	}
	// A disk that does not work must not keep the pager from paging.
	if err := p.claim(); err != nil {
		if _, taken := errors.AsType[*atomicfile.InUseError](err); taken {
			return err
		}
		p.options.Logger.Error("The alerts are not saved until the disk works: a restart forgets them", "err", err)
	}
	saved, err := readStates(p.options.Dir)
	if err != nil {
		p.disk.unreadable = true
		p.options.Logger.Error("The pager starts without the saved alerts; it renames their file to "+stateFileName+damagedSuffix, "err", err)
		return nil
	}
	p.restore(saved)
	return nil
}

// Prepare checks rules that replace the current ones. commit puts them into force before the next scrape. Rules with
// the same name, labels and group keep their state.
func (p *Pager) Prepare(text []byte) (commit func(), err error) {
	set, err := p.load(text)
	return func() { p.next.Store(set) }, err
}

// Run scrapes, evaluates and delivers until ctx is done. Then it delivers the last changes and saves the alerts.
func (p *Pager) Run(ctx context.Context) error {
	p.work.started.Store(p.clock.wall().UnixNano())
	stop, err := p.runNotifier(ctx)
	if err != nil {
		return errors.Join(err, p.Close())
	}
	saving, endSaving := context.WithCancel(context.Background())
	var saver sync.WaitGroup
	saver.Go(func() { p.saveLoop(saving) })
	ticker := time.NewTicker(p.options.Interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		p.round(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	stop()
	endSaving()
	saver.Wait()
	err = errors.Join(p.save(), p.Close())
	if err != nil {
		p.options.Logger.Error("The alerts could not be saved at the end; a restart continues with those of the last save", "err", err)
	}
	return err
}

// Close releases what a Pager that does not run holds.
func (p *Pager) Close() error {
	p.disk.lock.Release()
	return p.engine.Close()
}

// round stores samples and evaluates the groups that are due.
func (p *Pager) round(ctx context.Context) {
	if next := p.next.Swap(nil); next != nil {
		next.follow(p.rules.Load())
		p.rules.Store(next)
	}
	set, now := p.rules.Load(), p.clock.now()
	p.scrape(now.UnixMilli(), set.words)
	for _, g := range set.groups {
		last := g.GetLastEvalTimestamp()
		if g.Interval() > p.options.Interval && now.Sub(last) < g.Interval()-p.options.Interval/2 {
			continue
		}
		rules.DefaultEvalIterationFunc(ctx, g, now)
		if !last.IsZero() && !restored(g) { // with samples and records of two evaluations
			g.RestoreForState(now)
		}
		for _, r := range g.Rules() {
			p.work.evaluations.Add(1)
			if r.LastError() != nil {
				p.work.failures.Add(1)
			}
		}
	}
	p.states.expire()
	p.notify()
	p.work.evaluated.Store(p.clock.wall().UnixNano())
}

const (
	// saveInterval is the longest time until a delivery, or a pending alert, is saved.
	saveInterval = 15 * time.Second
	// saveWait is how long a notification waits until it is saved: a successor of a killed process must not take an
	// alert for firing after its end was sent.
	saveWait = 2 * time.Second
)

// saveLoop saves the states regularly, and when saveNow asks for it.
func (p *Pager) saveLoop(ctx context.Context) {
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for failed := false; ; {
		saved := make(chan struct{})
		select {
		case <-ctx.Done():
			return
		case saved = <-p.disk.saves:
		case <-ticker.C:
		}
		err := p.save()
		if err != nil && !failed {
			p.options.Logger.Error("The alerts cannot be saved: a restart would forget them", "err", err)
		}
		failed = err != nil
		close(saved)
	}
}

func (p *Pager) saveNow() {
	saved := make(chan struct{})
	late, gaveUp := context.WithTimeout(context.Background(), saveWait)
	defer gaveUp()
	select {
	case p.disk.saves <- saved:
	case <-late.Done():
	}
	select {
	case <-saved:
	case <-late.Done():
	}
}

// clock is the time of samples and evaluations. It follows the monotonic clock, so a step of the
// wall clock causes no gap in series and no early alert. Times that leave the pager are converted.
type clock struct {
	wall  func() time.Time
	base  time.Time // this clock's time at the start
	start time.Time // has a monotonic reading
}

func (c *clock) now() time.Time { return c.base.Add(time.Since(c.start)) }

// step returns how far the wall clock is ahead. Less than a second counts as 0, because the two are read one after the other.
func (c *clock) step() time.Duration {
	return c.wall().Round(0).Sub(c.now()).Truncate(time.Second)
}

// toWall converts a time of this clock to the wall clock. The zero time stays zero.
func (c *clock) toWall(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(c.step())
}
