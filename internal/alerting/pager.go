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
	"hash/maphash"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/notifier"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"

	"synthetic/internal/atomicfile"
)

// Options configure a Pager. Gatherer and RuleFiles are required.
type Options struct {
	Gatherer prometheus.Gatherer
	// RuleFiles contain the rules. Groups without an interval use Interval.
	RuleFiles []RuleFile
	// Interval between two scrapes; 0 means 15s.
	Interval time.Duration
	// Urgent reports whether a page may be due before the next evaluation. While it returns true, the pager scrapes and
	// evaluates three times in an interval. nil means never. It must be quick.
	Urgent func() bool
	// MaxSeries bounds the stored series, and so the memory; 0 means 50,000.
	MaxSeries int
	// Dir keeps the alerts across restarts, for one process at a time. "" keeps nothing.
	Dir string
	// Alertmanagers to notify; may be empty.
	Alertmanagers []Alertmanager
	// ExternalLabels are added to every alert that does not have them.
	ExternalLabels map[string]string
	// ExternalURL is the address of the alerts page; "" for none.
	ExternalURL string
	// Instance is the value of the label instance; "" means the host name.
	Instance string
	// OnChange is called when an alert starts to fire or ends. It runs in the goroutine that
	// evaluates rules, so it must be quick.
	OnChange func(Transition)
	// Dial opens the connections to Alertmanagers; nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Logger logs what the pager does, EngineLogger what Prometheus' parts log; nil logs nothing.
	Logger, EngineLogger *slog.Logger
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
}

func (o *Options) setDefaults() error {
	o.Interval = cmp.Or(o.Interval, 15*time.Second)
	o.MaxSeries = cmp.Or(o.MaxSeries, 50_000)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.EngineLogger = cmp.Or(o.EngineLogger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Urgent == nil {
		o.Urgent = func() bool { return false }
	}
	if o.OnChange == nil {
		o.OnChange = func(Transition) {}
	}
	if o.Gatherer == nil {
		return errors.New("the pager needs a gatherer")
	}
	if o.Instance == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("reading the host name, which is the label instance: %w", err)
		}
		o.Instance = host
	}
	return nil
}

// Pager evaluates alert rules and delivers alerts. Use New, then Run or Close.
type Pager struct {
	options Options
	clock   *clock
	syntax  parser.Parser
	engine  *promql.Engine
	memory  *memory
	feed    *feed
	states  *alertStates
	lock    *atomicfile.Lock // nil until the directory is locked

	notifier     *notifier.Manager
	targets      map[string][]*targetgroup.Group
	destinations []*destination // in the order of the configuration
	byEndpoint   map[string]*destination
	notified     time.Time       // when notify last sent
	requests     context.Context // ends the requests that still run when the pager stops
	endRequests  context.CancelFunc
	saves        chan chan struct{} // each is closed after a save

	// Health and Groups take no lock, because the pager's own scrape calls them.
	rules, next atomic.Pointer[ruleSet] // next replaces rules before the next scrape
	evaluations struct{ rules, failed atomic.Uint64 }
	evaluated   atomic.Int64 // when a round last ended, in Unix nanoseconds of the wall clock
}

// New checks rules and Alertmanagers, and reads the alerts of an earlier process.
func New(o Options) (*Pager, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	p := &Pager{options: o, syntax: parser.NewParser(parser.Options{}), memory: newMemory(), saves: make(chan chan struct{})}
	p.clock = &clock{wall: o.Now, base: o.Now().Round(0), start: time.Now()}
	p.states = &alertStates{clock: p.clock, external: labels.FromMap(o.ExternalLabels), alone: len(o.Alertmanagers) == 0, onChange: o.OnChange, byID: map[uint64]*alertState{}}
	p.engine = promql.NewEngine(promql.EngineOpts{
		Logger: o.EngineLogger, MaxSamples: maxSamples, Timeout: time.Minute,
		// A sample is current for five minutes, as in Prometheus, or longer with rare scrapes.
		LookbackDelta: max(5*time.Minute, 4*o.Interval), Parser: p.syntax, EnableAtModifier: true,
	})
	p.feed = &feed{
		gatherer: o.Gatherer, memory: p.memory, clock: p.clock, maxSeries: o.MaxSeries, logger: o.Logger,
		instance: labels.FromStrings("instance", o.Instance, "job", "synthetic"),
		series:   map[uint64]*fedSeries{}, seed: maphash.MakeSeed(),
	}
	err := p.prepare()
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Pager) prepare() error {
	set, err := p.load(p.options.RuleFiles)
	if err != nil {
		return err
	}
	p.rules.Store(set)
	p.requests, p.endRequests = context.WithCancel(context.Background())
	if err := p.newNotifier(); err != nil {
		return err
	}
	if p.options.Dir != "" {
		switch err := p.claim(); {
		case atomicfile.IsDiskFull(err):
			p.options.Logger.Error("The disk is full, so the alerts are not saved: a restart forgets them", "err", err)
		case err != nil:
			return err
		}
	}
	saved, err := readStates(p.options.Dir)
	if err != nil {
		return err
	}
	p.restore(saved)
	return nil
}

// maxSamples bounds the memory of one query: 16 bytes each.
const maxSamples = 5_000_000

// Prepare checks rules that replace the current ones. commit puts them into force before the next scrape. Unchanged
// groups, and alerts of changed rules with the same name, keep their state.
func (p *Pager) Prepare(files []RuleFile) (commit func(), err error) {
	set, err := p.load(files)
	return func() { p.next.Store(set) }, err
}

// Run scrapes, evaluates and delivers until ctx is done. Then it delivers the last changes and saves the alerts.
func (p *Pager) Run(ctx context.Context) error {
	stop := p.runNotifier()
	saving, endSaving := context.WithCancel(context.Background())
	saved := make(chan struct{})
	go func() {
		defer close(saved)
		p.saveLoop(saving)
	}()
	p.evaluateLoop(ctx)
	stop()
	endSaving()
	<-saved
	err := errors.Join(p.save(), p.Close())
	if err != nil {
		p.options.Logger.Error("The alerts could not be saved at the end; a restart continues with those of the last save", "err", err)
	}
	return err
}

// Close releases what a Pager that does not run holds.
func (p *Pager) Close() error {
	p.lock.Release()
	return p.engine.Close()
}

// urgentRounds is how often the pager scrapes and evaluates in an interval while Options.Urgent returns true.
const urgentRounds = 3

func (p *Pager) evaluateLoop(ctx context.Context) {
	interval := p.options.Interval
	tick := interval / urgentRounds
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for due := time.Now(); ; {
		if late := time.Since(due); late > -tick/2 {
			due = due.Add(interval * (1 + late.Truncate(interval)/interval))
			p.round(ctx)
		} else if p.options.Urgent() {
			p.round(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// restoredAfter is the number of evaluations after which pending alerts of an earlier process continue to wait:
// Prometheus' rules need samples and records before.
const restoredAfter = 2

// round stores samples and evaluates the groups that are due.
func (p *Pager) round(ctx context.Context) {
	if next := p.next.Swap(nil); next != nil {
		next.follow(p.rules.Load())
		p.rules.Store(next)
	}
	set, now := p.rules.Load(), p.clock.now()
	p.feed.scrape(now, set.reads)
	for _, g := range set.groups {
		if g.Interval() > p.options.Interval && now.Sub(g.GetLastEvalTimestamp()) < g.Interval()-p.options.Interval/2 {
			continue
		}
		rules.DefaultEvalIterationFunc(ctx, g.Group, now)
		if g.evaluations++; g.evaluations == restoredAfter {
			g.RestoreForState(now)
		}
		for _, r := range g.Rules() {
			p.evaluations.rules.Add(1)
			if r.LastError() != nil {
				p.evaluations.failed.Add(1)
			}
		}
	}
	p.states.expire()
	p.notify()
	p.memory.clean(now)
	p.evaluated.Store(p.clock.wall().UnixNano())
}

// saveInterval is the longest time until a delivery, or a pending alert, is saved.
const saveInterval = 15 * time.Second

// saveWait is how long a notification waits until it is saved. If the process is killed between the two, its successor
// could take an alert for firing after its end was sent, and page again.
const saveWait = 2 * time.Second

// saveLoop saves the states regularly, and when saveNow asks for it.
func (p *Pager) saveLoop(ctx context.Context) {
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for failed := false; ; {
		var saved chan struct{}
		select {
		case <-ctx.Done():
			return
		case saved = <-p.saves:
		case <-ticker.C:
		}
		err := p.save()
		if err != nil && !failed {
			p.options.Logger.Error("The alerts cannot be saved: a restart would forget them", "err", err)
		}
		failed = err != nil
		if saved != nil {
			close(saved)
		}
	}
}

func (p *Pager) saveNow() {
	saved, late := make(chan struct{}), time.After(saveWait)
	select {
	case p.saves <- saved:
	case <-late:
		return
	}
	select {
	case <-saved:
	case <-late:
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
func (c *clock) toWall(t time.Time) time.Time { return shift(t, c.step()) }

func shift(t time.Time, by time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(by)
}
