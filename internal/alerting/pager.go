// Package alerting pages without a Prometheus: it gathers from a registry in
// its own process, stores what the alert rules read in a small time series
// database, evaluates the rules with Prometheus's own rule manager, and tells
// Alertmanagers what fires.
//
// Delivery is its own. It keeps the state of each alert for each Alertmanager
// instead of a queue of messages, so that an Alertmanager that was away learns
// of every alert, also of one that came and went meanwhile; memory does not
// grow with the time away. See docs/how-to/pager.md.
package alerting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
)

// Options configure a Pager. Gatherer and RuleFiles are required.
type Options struct {
	Gatherer prometheus.Gatherer
	// RuleFiles contain the rules. Groups without an interval use Interval.
	RuleFiles []RuleFile
	// Interval between two scrapes; 0 means 15s.
	Interval time.Duration
	// MaxSeries bounds the stored series, and so the memory; 0 means 50,000.
	MaxSeries int
	// Dir keeps samples and alerts across restarts, for one process at a time. "" means a
	// temporary directory.
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
	// Logger logs what the pager does, EngineLogger what the storage and the rule manager log;
	// nil logs nothing.
	Logger, EngineLogger *slog.Logger
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time

	// free returns the free space of a volume; nil asks the kernel.
	free func(dir string) (uint64, error)
	// mkdir creates a directory and its parents; nil means os.MkdirAll.
	mkdir func(dir string, mode fs.FileMode) error
}

func (o Options) withDefaults() Options {
	o.Interval = cmp.Or(o.Interval, 15*time.Second)
	o.MaxSeries = cmp.Or(o.MaxSeries, 50_000)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.EngineLogger == nil {
		o.EngineLogger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.free == nil {
		o.free = freeBytes
	}
	if o.mkdir == nil {
		o.mkdir = os.MkdirAll
	}
	return o
}

// Pager evaluates alert rules and delivers alerts. Use New, then Run or Close.
type Pager struct {
	options   Options
	clock     *clock
	home      *home
	feed      *feed
	files     *ruleFiles
	engine    *promql.Engine
	states    *alertStates
	sendLoops []*sendLoop
	external  labels.Labels
	// of all groups
	evaluations evaluations
	close       func() error // once

	// store is nil while it cannot be opened. abandoned counts stores that broke and could not
	// be closed, failures the failed attempts since the last success. They belong to Run.
	store               *store
	abandoned, failures int
	// reason why the pager has stopped, nil if it works
	standing atomic.Pointer[error]

	manager atomic.Pointer[rules.Manager] // nil until Run
	// mu serialises reloads. Health and Groups do not take it, because the pager's own scrape
	// calls them.
	mu sync.Mutex
	// cancelRules ends running evaluations.
	rulesCtx    context.Context
	cancelRules context.CancelFunc
}

// New opens the storage and checks rules and Alertmanagers. Errors say what is wrong and what
// to do.
func New(o Options) (*Pager, error) {
	o = o.withDefaults()
	if o.Gatherer == nil {
		return nil, errors.New("the pager needs a gatherer")
	}
	if o.Instance == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("reading the host's name, which is the label instance: %w", err)
		}
		o.Instance = host
	}
	syntax := parser.NewParser(parser.Options{})
	p := &Pager{
		options: o, external: labels.FromMap(o.ExternalLabels),
		files: &ruleFiles{syntax: syntax, logger: o.EngineLogger},
	}
	var urls []string
	for _, a := range o.Alertmanagers {
		c, err := newClient(a, p.page(), o.Dial)
		if err != nil {
			return nil, err
		}
		p.sendLoops = append(p.sendLoops, &sendLoop{client: c, logger: o.Logger})
		urls = append(urls, c.url)
	}
	p.home = &home{dir: o.Dir, lasting: o.Dir != "", logger: o.EngineLogger, free: o.free, mkdir: o.mkdir}
	p.engine = promql.NewEngine(promql.EngineOpts{
		Logger: o.EngineLogger, MaxSamples: maxSamples, Timeout: time.Minute,
		LookbackDelta: lookback(o.Interval), Parser: syntax, EnableAtModifier: true,
	})
	p.close = sync.OnceValue(p.closeAll)
	saved, err := p.take()
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.clock = newClock(o.Now, saved)
	p.feed = &feed{
		gatherer: o.Gatherer, clock: p.clock, maxSeries: o.MaxSeries, logger: o.Logger,
		instance: labels.FromStrings("instance", o.Instance, "job", "synthetic"),
		seed:     maphash.MakeSeed(),
	}
	if err := p.open(); err != nil && !full(err) {
		return nil, errors.Join(err, p.close())
	}
	p.states = newAlertStates(p.clock, p.external, urls, o.OnChange)
	for _, l := range p.sendLoops {
		l.states, l.wake = p.states, p.states.watch()
	}
	if err := p.Reload(o.RuleFiles); err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.states.restore(saved, p.files.timing)
	return p, nil
}

// take locks the directory and reads the saved state. A full disk is no error, here and when
// the database is opened: Run waits for space.
func (p *Pager) take() (savedStates, error) {
	if err := p.home.take(); err != nil && !full(err) {
		return savedStates{}, err
	}
	return readStates(p.options.Dir)
}

func (p *Pager) closeAll() error {
	err := p.engine.Close()
	if p.store != nil {
		err = errors.Join(err, p.store.close())
	}
	p.home.close()
	return err
}

// maxSamples bounds the memory of one query: 16 bytes each.
const maxSamples = 5_000_000

// lookback returns the age up to which a sample is current: the usual five minutes, or more
// with rare scrapes.
func lookback(interval time.Duration) time.Duration { return max(5*time.Minute, 4*interval) }

// page returns the address that alerts link to.
func (p *Pager) page() string {
	if p.options.ExternalURL == "" {
		return ""
	}
	return strings.TrimSuffix(p.options.ExternalURL, "/") + "/alerts"
}

// Reload replaces the rules. Unchanged groups, and alerts of changed rules with the same name,
// keep their state. On an error nothing has changed.
func (p *Pager) Reload(files []RuleFile) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	groups, err := p.files.parse(files)
	if err != nil {
		return err
	}
	names, err := selected(p.files.syntax, groups)
	if err != nil {
		return err
	}
	p.files.take(files, groups, p.options.Interval)
	p.feed.take(names)
	if manager := p.manager.Load(); manager != nil {
		return p.update(manager)
	}
	return nil
}

// Check returns the error that Reload would return for files that cannot be used.
func (p *Pager) Check(files []RuleFile) error {
	groups, err := p.files.parse(files)
	if err != nil {
		return err
	}
	_, err = selected(p.files.syntax, groups)
	return err
}

// update passes the files to the rule manager.
func (p *Pager) update(manager *rules.Manager) error {
	evaluate := func(ctx context.Context, g *rules.Group, _ time.Time) {
		before, now := g.GetLastEvalTimestamp(), p.clock.now()
		rules.DefaultEvalIterationFunc(ctx, g, now)
		p.evaluations.note(g, before, now)
	}
	return manager.Update(p.options.Interval, p.files.names(), p.external, p.options.ExternalURL, evaluate)
}

// Run scrapes, evaluates and delivers until ctx is done. Then it delivers the last changes,
// saves its state and closes the storage. While the storage cannot be used it pauses, and
// Health says why.
func (p *Pager) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	deliveries, endDeliveries := context.WithCancel(context.Background())
	for _, l := range p.sendLoops {
		parts.Go(func() { l.run(deliveries) })
	}
	parts.Go(func() { p.saves(deliveries) })
	p.watch(ctx)
	endDeliveries()
	parts.Wait()
	err := errors.Join(p.save(), p.Close())
	if err != nil {
		p.options.Logger.Error("The pager did not end well; what it stored last may be missing", "err", err)
	}
	return err
}

// Close closes the storage of a Pager that is not running.
func (p *Pager) Close() error { return p.close() }

// saveInterval is the longest time until a delivery is saved.
const saveInterval = 15 * time.Second

// saves saves the states when an alert has changed, and regularly for deliveries.
func (p *Pager) saves(ctx context.Context) {
	if p.options.Dir == "" {
		return
	}
	changed := p.states.watch()
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for failed := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-ticker.C:
		}
		err := p.save()
		if err != nil && !failed {
			p.options.Logger.Error("The alerts would not survive a restart", "err", err)
		}
		failed = err != nil
	}
}

func (p *Pager) save() error {
	if p.options.Dir == "" {
		return nil
	}
	return p.states.save(p.options.Dir)
}
