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

// Options are what a Pager is made of. Gatherer and RuleFiles are required.
type Options struct {
	Gatherer prometheus.Gatherer
	// RuleFiles hold the rules. Groups without an interval are evaluated every
	// Interval.
	RuleFiles []RuleFile
	// Interval is the time between two scrapes; 0 means 15s.
	Interval time.Duration
	// Retention is how long samples are kept; 0 means 24h.
	Retention time.Duration
	// MaxSeries bounds the series that are stored of what is gathered, and so
	// the memory; 0 means 50,000.
	MaxSeries int
	// Dir keeps samples and alerts over a restart. It must be a directory, and
	// belongs to one process at a time. "" means a temporary one.
	Dir string
	// Alertmanagers are told of alerts; there may be none.
	Alertmanagers []Alertmanager
	// ExternalLabels are put on every alert that does not have them.
	ExternalLabels map[string]string
	// ExternalURL is where people reach the page of alerts; "" for nowhere.
	ExternalURL string
	// Instance is the value of the label instance; "" means the host's name.
	Instance string
	// OnChange is called when an alert begins to fire or is over, from the
	// goroutine that evaluates: it must be quick.
	OnChange func(Transition)
	// Dial opens the connections to Alertmanagers; nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Logger is told what the pager does, EngineLogger what the storage and the
	// rule manager say; nil drops it.
	Logger, EngineLogger *slog.Logger
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.Interval = cmp.Or(o.Interval, 15*time.Second)
	o.Retention = cmp.Or(o.Retention, 24*time.Hour)
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
	return o
}

// Pager evaluates alert rules and delivers alerts. Use New, then Run or Close.
type Pager struct {
	options   Options
	clock     *clock
	store     *store
	feed      *feed
	files     *ruleFiles
	engine    *promql.Engine
	states    *alertStates
	sendLoops []*sendLoop
	external  labels.Labels
	// evaluations are those of all groups.
	evaluations evaluations
	close       func() error // once

	manager atomic.Pointer[rules.Manager] // nil until Run
	// mu lets one reload happen at a time. Health and Groups do not take it:
	// they may be asked while the pager scrapes.
	mu sync.Mutex
	// cancelRules ends the evaluations that run.
	rulesCtx    context.Context
	cancelRules context.CancelFunc
}

// New opens the storage and checks rules and Alertmanagers. Errors name what
// is wrong and what to do.
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
	var err error
	if p.store, err = openStore(o.Dir, o.Retention, o.EngineLogger); err != nil {
		return nil, err
	}
	p.engine = promql.NewEngine(promql.EngineOpts{
		Logger: o.EngineLogger, MaxSamples: maxSamples, Timeout: time.Minute,
		LookbackDelta: lookback(o.Interval), Parser: syntax, EnableAtModifier: true,
	})
	p.close = sync.OnceValue(func() error { return errors.Join(p.engine.Close(), p.store.close()) })
	saved, err := readStates(o.Dir)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.clock = newClock(o.Now, saved, p.store.newest().Add(time.Millisecond))
	p.feed = &feed{
		gatherer: o.Gatherer, storage: p.store, clock: p.clock, maxSeries: o.MaxSeries, logger: o.Logger,
		instance: labels.FromStrings("instance", o.Instance, "job", "synthetic"),
		series:   map[uint64]*series{}, seed: maphash.MakeSeed(),
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

// maxSamples bounds the memory of one query: 16 bytes each.
const maxSamples = 5_000_000

// lookback is how old a sample may be to count as the present one: the usual
// five minutes, unless scrapes are rarer than that allows.
func lookback(interval time.Duration) time.Duration { return max(5*time.Minute, 4*interval) }

// page is where alerts say that they come from.
func (p *Pager) page() string {
	if p.options.ExternalURL == "" {
		return ""
	}
	return strings.TrimSuffix(p.options.ExternalURL, "/") + "/alerts"
}

// Reload replaces the rules. Groups that did not change, and alerts of rules
// that did but kept their name, keep their state. On an error nothing has
// changed.
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

// update hands the files to the rule manager.
func (p *Pager) update(manager *rules.Manager) error {
	evaluate := func(ctx context.Context, g *rules.Group, _ time.Time) {
		before, now := g.GetLastEvalTimestamp(), p.clock.now()
		rules.DefaultEvalIterationFunc(ctx, g, now)
		p.evaluations.note(g, before, now)
	}
	return manager.Update(p.options.Interval, p.files.names(), p.external, p.options.ExternalURL, evaluate)
}

// start makes the rule manager and loads the rules into it.
func (p *Pager) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rulesCtx, p.cancelRules = context.WithCancel(context.Background())
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(p.engine, p.store),
		NotifyFunc: p.states.notify,
		Appendable: p.store, Queryable: p.store, Context: p.rulesCtx,
		Logger: p.options.EngineLogger, Parser: p.files.syntax, GroupLoader: p.files,
		// A restored alert goes on waiting where it stood, however short it waits.
		OutageTolerance: outageTolerance, ForGracePeriod: 0, RestoreNewRuleGroups: false,
		// The states remind Alertmanagers; they want to hear every evaluation.
		ResendDelay: time.Millisecond,
	})
	p.manager.Store(manager)
	return p.update(manager)
}

// Run scrapes, evaluates and delivers until ctx is done. Then it tells the
// Alertmanagers what is new, saves its state and closes the storage.
func (p *Pager) Run(ctx context.Context) error {
	p.scrape(ctx) // so that the first evaluation has something to read
	if err := p.start(); err != nil {
		return errors.Join(err, p.Close())
	}
	var parts sync.WaitGroup
	deliveries, endDeliveries := context.WithCancel(context.Background())
	for _, l := range p.sendLoops {
		parts.Go(func() { l.run(deliveries) })
	}
	parts.Go(func() { p.saves(deliveries) })
	manager := p.manager.Load()
	parts.Go(manager.Run)

	p.scrapes(ctx)
	p.cancelRules()
	manager.Stop()
	endDeliveries()
	parts.Wait()
	return errors.Join(p.save(), p.Close())
}

// Close closes the storage of a Pager that does not run.
func (p *Pager) Close() error { return p.close() }

// scrapes stores what is gathered, each interval.
func (p *Pager) scrapes(ctx context.Context) {
	ticker := time.NewTicker(p.options.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.scrape(ctx)
		}
	}
}

func (p *Pager) scrape(ctx context.Context) {
	if err := p.feed.scrape(ctx); err != nil {
		p.options.Logger.Warn("Storing what the alert rules read", "err", err)
	}
	p.states.expire()
}

// saveInterval is how long deliveries may wait to be saved.
const saveInterval = 15 * time.Second

// saves saves the states when an alert has changed, and now and then for what
// was delivered.
func (p *Pager) saves(ctx context.Context) {
	if p.options.Dir == "" {
		return
	}
	changed := p.states.watch()
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-ticker.C:
		}
		if err := p.save(); err != nil {
			p.options.Logger.Error("The alerts would not survive a restart", "err", err)
		}
	}
}

func (p *Pager) save() error {
	if p.options.Dir == "" {
		return nil
	}
	return p.states.save(p.options.Dir)
}
