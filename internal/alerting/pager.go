// Package alerting pages without a Prometheus server. It gathers from a registry in its own
// process, stores the series that the alert rules read in a small time series database,
// evaluates the rules with Prometheus's own rule manager, and notifies Alertmanagers.
//
// It does not use Prometheus's notifier, which queues messages and drops them while an
// Alertmanager is away. Instead it keeps the state of each alert for each Alertmanager. So an
// Alertmanager that was away learns about every alert, also one that started and ended
// meanwhile, and memory does not grow with the time away. See docs/how-to/pager.md.
package alerting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
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
	// Urgent reports whether a page may be due before the next evaluation. While it returns true, the pager scrapes three
	// times in an interval, and evaluates after each scrape. nil means never. It must be quick.
	Urgent func() bool
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

	// freeBytes returns the free space of a volume; nil asks the kernel.
	freeBytes func(dir string) (uint64, error)
	// mkdir creates a directory and its parents; nil means os.MkdirAll.
	mkdir func(dir string, mode fs.FileMode) error
}

func (o *Options) setDefaults() error {
	o.Interval = cmp.Or(o.Interval, 15*time.Second)
	o.MaxSeries = cmp.Or(o.MaxSeries, 50_000)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.EngineLogger = cmp.Or(o.EngineLogger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.freeBytes == nil {
		o.freeBytes = freeBytes
	}
	if o.mkdir == nil {
		o.mkdir = os.MkdirAll
	}
	if o.Urgent == nil {
		o.Urgent = func() bool { return false }
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
	options     Options
	clock       *clock
	dir         *directory
	feed        *feed
	rules       *ruleLoader
	engine      *promql.Engine
	states      *alertStates
	sendLoops   []*sendLoop // one for each Alertmanager
	external    labels.Labels
	evaluations evaluations  // of all groups
	close       func() error // runs once

	// store is nil while it cannot be opened. abandoned counts stores that broke and could not
	// be closed, failures the failed attempts since the last success. They belong to Run.
	store               *store
	abandoned, failures int
	stalled             atomic.Pointer[error] // why the pager has stopped; nil if it works

	manager atomic.Pointer[rules.Manager] // nil until Run
	// mu serialises reloads. Health and Groups do not take it, because the pager's own scrape
	// calls them.
	mu sync.Mutex
	// evaluating is held while a group with the pager's interval is evaluated: scrapeLoop evaluates them, too.
	evaluating sync.Mutex
	// cancelRules ends running evaluations.
	rulesCtx    context.Context
	cancelRules context.CancelFunc
}

// New opens the storage and checks rules and Alertmanagers.
func New(o Options) (*Pager, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	syntax := parser.NewParser(parser.Options{})
	p := &Pager{options: o, external: labels.FromMap(o.ExternalLabels), rules: &ruleLoader{syntax: syntax}}
	rules, err := p.parse(o.RuleFiles)
	if err != nil {
		return nil, err
	}
	p.rules.current.Store(rules)
	clients, err := p.newClients()
	if err != nil {
		return nil, err
	}
	p.dir = &directory{path: o.Dir, permanent: o.Dir != "", logger: o.EngineLogger, freeBytes: o.freeBytes, mkdir: o.mkdir}
	p.engine = promql.NewEngine(promql.EngineOpts{
		Logger: o.EngineLogger, MaxSamples: maxSamples, Timeout: time.Minute,
		LookbackDelta: lookback(o.Interval), Parser: syntax, EnableAtModifier: true,
	})
	p.close = sync.OnceValue(p.closeAll)
	saved, err := p.readDirectory()
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.clock = newClock(o.Now, saved)
	p.feed = &feed{
		gatherer: o.Gatherer, clock: p.clock, rules: p.rules, maxSeries: o.MaxSeries, logger: o.Logger,
		instance: labels.FromStrings("instance", o.Instance, "job", "synthetic"),
		seed:     maphash.MakeSeed(),
	}
	if err := p.open(); err != nil && !waitable(err) {
		return nil, errors.Join(err, p.close())
	}
	p.states = newAlertStates(p.clock, p.external, clients, o.OnChange)
	for _, c := range clients {
		p.sendLoops = append(p.sendLoops, &sendLoop{client: c, logger: o.Logger, states: p.states, changed: p.states.watch()})
	}
	p.states.restore(saved, p.rules.timing)
	return p, nil
}

func (p *Pager) newClients() ([]*client, error) {
	var clients []*client
	for _, a := range p.options.Alertmanagers {
		c, err := newClient(a, p.page(), p.options.Dial)
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

// readDirectory locks the directory and reads the saved state. On a full disk, here and when the
// database is opened, Run waits for space.
func (p *Pager) readDirectory() (savedStates, error) {
	if err := p.dir.claim(); err != nil && !waitable(err) {
		return savedStates{}, err
	}
	return readStates(p.options.Dir)
}

func (p *Pager) closeAll() error {
	err := p.engine.Close()
	if p.store != nil {
		err = errors.Join(err, p.store.close())
	}
	p.dir.close()
	return err
}

// maxSamples bounds the memory of one query: 16 bytes each.
const maxSamples = 5_000_000

// lookback returns the age up to which a sample is current: Prometheus's default of five
// minutes, or more with rare scrapes.
func lookback(interval time.Duration) time.Duration { return max(5*time.Minute, 4*interval) }

// page returns the address that alerts link to.
func (p *Pager) page() string {
	if p.options.ExternalURL == "" {
		return ""
	}
	return strings.TrimSuffix(p.options.ExternalURL, "/") + "/alerts"
}

func (p *Pager) parse(files []RuleFile) (*ruleSet, error) {
	return parseRules(files, p.options.Interval, p.rules.syntax, p.options.EngineLogger)
}

// Prepare checks rules that replace the current ones. commit puts them into force. Unchanged
// groups, and alerts of changed rules with the same name, keep their state.
func (p *Pager) Prepare(files []RuleFile) (commit func(), err error) {
	rules, err := p.parse(files)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rules.current.Store(rules)
		if manager := p.manager.Load(); manager != nil {
			if err := p.update(manager); err != nil {
				p.options.Logger.Error("The rule manager refused rules that were checked, which is a mistake of this program", "err", err)
			}
		}
	}, err
}

func (p *Pager) update(manager *rules.Manager) error {
	evaluate := func(ctx context.Context, g *rules.Group, _ time.Time) { p.evaluate(ctx, g) }
	files := slices.Sorted(maps.Keys(p.rules.current.Load().groups))
	return manager.Update(p.options.Interval, files, p.external, p.options.ExternalURL, evaluate)
}

func (p *Pager) evaluate(ctx context.Context, g *rules.Group) {
	if g.Interval() == p.options.Interval {
		p.evaluating.Lock()
		defer p.evaluating.Unlock()
	}
	last, now := g.GetLastEvalTimestamp(), p.clock.now()
	rules.DefaultEvalIterationFunc(ctx, g, now)
	p.evaluations.add(g, last, now)
}

// evaluateNow evaluates the groups with the pager's interval, unless a reload is changing them.
func (p *Pager) evaluateNow() {
	if !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	for _, g := range p.Groups() {
		if g.Interval() == p.options.Interval {
			p.evaluate(p.rulesCtx, g)
		}
	}
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
	parts.Go(func() { p.saveLoop(deliveries) })
	p.watch(ctx)
	endDeliveries()
	parts.Wait()
	err := errors.Join(p.save(), p.Close())
	if err != nil {
		p.options.Logger.Error("The pager did not end properly; what it stored last may be missing", "err", err)
	}
	return err
}

// Close closes the storage of a Pager that is not running.
func (p *Pager) Close() error { return p.close() }

// saveInterval is the longest time until a delivery is saved.
const saveInterval = 15 * time.Second

// saveLoop saves the states when an alert has changed, and regularly for deliveries.
func (p *Pager) saveLoop(ctx context.Context) {
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
			p.options.Logger.Error("The alerts cannot be saved: a restart would forget them", "err", err)
		}
		failed = err != nil
	}
}

// save saves the states if there is a permanent directory.
func (p *Pager) save() error {
	if p.options.Dir == "" {
		return nil
	}
	return p.states.save(p.options.Dir)
}
