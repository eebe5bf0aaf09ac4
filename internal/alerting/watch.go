package alerting

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/prometheus/rules"

	"synthetic/internal/atomicfile"
)

const (
	// tidyInterval is the time between two looks after the database.
	tidyInterval = time.Minute
	// mostPatience bounds the wait after a failure that room alone does not
	// explain: a quota, say, or a volume that can only be read.
	mostPatience = 15 * time.Minute
	// mostAbandoned is how many databases may break before no new one is opened:
	// each leaves a goroutine and a few open files.
	mostAbandoned = 64
)

// watch stores and evaluates while it can, and stands still while it cannot,
// until ctx is done. Nothing that happens to the storage ends it.
func (p *Pager) watch(ctx context.Context) {
	for {
		why := p.spell(ctx)
		p.abandon(why)
		if ctx.Err() != nil {
			return
		}
		p.stand(ctx, why)
	}
}

// spell stores and evaluates until ctx is done or something fails. Each one is
// as after a restart: waiting alerts wait on, without the time between.
func (p *Pager) spell(parent context.Context) error {
	if err := p.open(); err != nil {
		return err
	}
	ctx, end := context.WithCancel(parent)
	defer end()
	if err := p.scrape(ctx); err != nil { // so that the first evaluation has something to read
		return err
	}
	manager, err := p.start()
	if err != nil {
		return err
	}
	p.goOn()
	var parts sync.WaitGroup
	parts.Go(manager.Run)
	var tidied error
	parts.Go(func() {
		defer end()
		tidied = p.tidies(ctx)
	})
	scraped := p.scrapes(ctx)
	end()
	p.cancelRules()
	manager.Stop()
	parts.Wait()
	return errors.Join(scraped, tidied) // one may have broken the database after the other ended
}

// open opens the database, unless it is.
func (p *Pager) open() error {
	if p.store != nil {
		return p.home.room(enough)
	}
	if p.abandoned >= mostAbandoned {
		return fmt.Errorf("the storage broke %d times; restart the process when its disk is well", p.abandoned)
	}
	s, err := p.home.open()
	if err != nil {
		return err
	}
	p.store = s
	p.feed.begin(s)
	p.clock.advance(s.newest().Add(time.Millisecond))
	return nil
}

// abandon lets go of a database that broke.
func (p *Pager) abandon(why error) {
	if _, broken := errors.AsType[brokenError](why); !broken || p.store == nil {
		return
	}
	if err := p.store.close(); err != nil {
		p.abandoned++
	}
	p.store = nil
}

// stand waits until there is room again, after a failure for ever longer times.
// What fires goes on meanwhile, as nobody knows better, and Alertmanagers are
// reminded of it.
func (p *Pager) stand(ctx context.Context, why error) {
	if p.standing.Swap(&why) == nil {
		p.options.Logger.Error("The pager stands still: it stores nothing and evaluates no rule until it can; probing goes on", "err", why)
	}
	until := time.Now()
	if !errors.Is(why, errNoRoom) {
		p.failures++
		until = until.Add(min(tidyInterval<<min(p.failures-1, 10), mostPatience))
	}
	ticker := time.NewTicker(p.options.Interval)
	defer ticker.Stop()
	for {
		p.states.hold(p.files.timing)
		p.states.expire()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !time.Now().Before(until) && p.home.room(enough) == nil {
			return
		}
	}
}

// goOn says that the pager works, if it did not.
func (p *Pager) goOn() {
	if p.standing.Swap(nil) != nil {
		p.states.hold(p.files.timing)
		p.options.Logger.Info("The pager stores and evaluates again")
	}
}

// tidies looks after the database each minute until ctx is done or that fails.
// Without room it leaves it alone: scrapes, which looks as often, says so.
func (p *Pager) tidies(ctx context.Context) error {
	return each(ctx, tidyInterval, func() error {
		if p.home.room(floor) != nil {
			return nil
		}
		err := p.store.tidy(ctx)
		if _, broken := errors.AsType[brokenError](err); broken || full(err) {
			return err
		}
		if err != nil { // a block that cannot be read, say: what is new is stored all the same
			p.options.Logger.Error("Making blocks of what the pager stored", "err", err)
		}
		p.failures = 0
		return nil
	})
}

// scrapes stores what is gathered, each interval, until ctx is done, there is
// hardly any room or the database breaks.
func (p *Pager) scrapes(ctx context.Context) error {
	return each(ctx, p.options.Interval, func() error {
		if err := p.home.room(floor); err != nil {
			return err
		}
		err := p.scrape(ctx)
		p.states.expire()
		return err
	})
}

// each does something again and again until ctx is done or it fails.
func each(ctx context.Context, interval time.Duration, do func() error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := do(); err != nil {
			return err
		}
	}
}

// scrape returns an error only if the database broke. It ends no alert: the first
// one of a spell comes before goOn, however long it took to open the database.
func (p *Pager) scrape(ctx context.Context) error {
	err := p.feed.scrape(ctx)
	if _, broken := errors.AsType[brokenError](err); broken {
		return err
	}
	if err != nil {
		p.options.Logger.Warn("Storing what the alert rules read", "err", err)
	}
	return nil
}

// start makes a rule manager and loads the rules into it.
func (p *Pager) start() (*rules.Manager, error) {
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
	return manager, p.update(manager)
}

// full reports whether the pager can wait for what is wrong to end.
func full(err error) bool { return errors.Is(err, errNoRoom) || atomicfile.IsDiskFull(err) }
