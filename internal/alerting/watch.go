package alerting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/rules"

	"synthetic/internal/atomicfile"
)

const (
	// compactInterval is the time between two maintenance runs of the database.
	compactInterval = time.Minute
	// maxPause bounds the pause after a failure that lack of space does not explain, such as a
	// quota or a read-only volume.
	maxPause = 15 * time.Minute
	// maxAbandoned is the number of broken databases after which no new one is opened: each
	// leaves a goroutine and a few open files.
	maxAbandoned = 64
)

// watch stores and evaluates until ctx is done. When the storage fails it pauses, and then tries
// again.
func (p *Pager) watch(ctx context.Context) {
	for {
		err := p.storeAndEvaluate(ctx)
		p.abandon(err)
		if ctx.Err() != nil {
			return
		}
		p.pause(ctx, err)
	}
}

// storeAndEvaluate works until ctx is done or something fails. As after a restart, alerts that
// were pending continue to wait, without the time of the pause.
func (p *Pager) storeAndEvaluate(parent context.Context) error {
	if err := p.open(); err != nil {
		return err
	}
	ctx, end := context.WithCancel(parent)
	defer end()
	if err := p.scrape(ctx); err != nil { // so that the first evaluation finds samples
		return err
	}
	manager, err := p.startManager()
	if err != nil {
		return err
	}
	if p.stalled.Swap(nil) != nil {
		p.states.hold(p.rules.timing)
		p.options.Logger.Info("The pager stores and evaluates again")
	}
	var parts sync.WaitGroup
	parts.Go(manager.Run)
	var compactErr error
	parts.Go(func() {
		defer end()
		compactErr = p.compactLoop(ctx)
	})
	scrapeErr := p.scrapeLoop(ctx, untilScrape(manager.RuleGroups(), p.options.Interval, time.Now()))
	end()
	p.cancelRules()
	manager.Stop()
	parts.Wait()
	return errors.Join(scrapeErr, compactErr) // either may have broken the database
}

func (p *Pager) open() error {
	if p.store != nil {
		return p.dir.requireSpace(resumeSpace)
	}
	if p.abandoned >= maxAbandoned {
		return fmt.Errorf("the storage broke %d times; restart the process when its disk works", p.abandoned)
	}
	s, err := p.dir.open()
	if err != nil {
		return err
	}
	p.store = s
	p.feed.begin(s)
	p.clock.advance(s.newest().Add(time.Millisecond))
	return nil
}

// abandon drops the database if err says that it broke.
func (p *Pager) abandon(err error) {
	if _, broken := errors.AsType[brokenError](err); !broken || p.store == nil {
		return
	}
	if err := p.store.close(); err != nil {
		p.abandoned++
	}
	p.store = nil
}

// pause waits until there is enough space, and increasingly longer after other failures. Firing
// alerts continue meanwhile, and Alertmanagers are reminded of them.
func (p *Pager) pause(ctx context.Context, reason error) {
	if p.stalled.Swap(&reason) == nil {
		p.options.Logger.Error("The pager has stopped: it stores nothing and evaluates no rules; probing continues", "err", reason)
	}
	until := time.Now()
	if !errors.Is(reason, errNoSpace) {
		p.failures++
		until = until.Add(min(compactInterval<<min(p.failures-1, 10), maxPause))
	}
	ticker := time.NewTicker(p.options.Interval)
	defer ticker.Stop()
	for {
		p.states.hold(p.rules.timing)
		p.states.expire()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !time.Now().Before(until) && p.dir.requireSpace(resumeSpace) == nil {
			return
		}
	}
}

// compactLoop maintains the database until ctx is done or the database breaks. On a full disk
// it does nothing: scrapeLoop reports that.
func (p *Pager) compactLoop(ctx context.Context) error {
	return repeat(ctx, compactInterval, func() error {
		if p.dir.requireSpace(minSpace) != nil {
			return nil
		}
		err := p.store.compact(ctx)
		if _, broken := errors.AsType[brokenError](err); broken || waitable(err) {
			return err
		}
		if err != nil { // new samples are stored all the same
			p.options.Logger.Error("Cannot compact the pager's storage", "err", err)
		}
		p.failures = 0
		return nil
	})
}

// untilScrape returns the time until a scrape whose samples are new at the next evaluations of the groups that are
// evaluated once between two scrapes. Each has a phase of its own: without this the samples could be as old as the
// interval, and each page that much later. A group may read what another has just recorded, so the scrape comes before the
// first of those whose phases follow each other.
func untilScrape(groups []*rules.Group, interval time.Duration, now time.Time) time.Duration {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g *rules.Group) bool { return g.Interval() != interval })
	if len(groups) == 0 {
		return 0
	}
	lead := interval / 10 // for the scrape itself
	scrapeFor := func(g *rules.Group) time.Time { return g.EvalTimestamp(now.UnixNano()).Add(-lead) }
	// age is that of the samples at the evaluations of all groups, if the scrape suits one of them.
	age := func(g *rules.Group) (sum time.Duration) {
		for _, other := range groups {
			sum += (other.EvalTimestamp(now.UnixNano()).Sub(scrapeFor(g))%interval + interval) % interval
		}
		return sum
	}
	best := slices.MinFunc(groups, func(a, b *rules.Group) int { return cmp.Compare(age(a), age(b)) })
	return (scrapeFor(best).Sub(now)%interval + interval) % interval
}

// urgentRounds is how often the pager scrapes and evaluates in an interval while Options.Urgent returns true.
const urgentRounds = 3

// scrapeLoop waits, and then stores samples at each interval until ctx is done, the disk is almost full or the
// database breaks. While it is urgent, it also stores samples and evaluates rules between two intervals.
func (p *Pager) scrapeLoop(ctx context.Context, wait time.Duration) error {
	scrape := func() error {
		if err := p.dir.requireSpace(minSpace); err != nil {
			return err
		}
		err := p.scrape(ctx)
		p.states.expire()
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(wait):
	}
	if err := scrape(); err != nil {
		return err
	}
	interval := p.options.Interval
	tick, due := interval/urgentRounds, time.Now().Add(interval)
	return repeat(ctx, tick, func() error {
		late, urgent := time.Since(due), p.options.Urgent()
		if late > -tick/2 {
			due = due.Add(interval * (1 + late/interval))
		} else if !urgent {
			return nil
		}
		err := scrape()
		if err == nil && urgent {
			p.evaluateNow()
		}
		return err
	})
}

// repeat calls do at each interval until ctx is done or do fails.
func repeat(ctx context.Context, interval time.Duration, do func() error) error {
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

// scrape returns an error only if the database broke. It does not expire alerts: the first
// scrape comes before hold, however long it took to open the database.
func (p *Pager) scrape(ctx context.Context) error {
	err := p.feed.scrape(ctx)
	if _, broken := errors.AsType[brokenError](err); broken {
		return err
	}
	if err != nil {
		p.options.Logger.Warn("Cannot store some series that the alert rules read", "err", err)
	}
	return nil
}

func (p *Pager) startManager() (*rules.Manager, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rulesCtx, p.cancelRules = context.WithCancel(context.Background())
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(p.engine, p.store),
		NotifyFunc: p.states.notify,
		Appendable: p.store, Queryable: p.store, Context: p.rulesCtx,
		Logger: p.options.EngineLogger, Parser: p.rules.syntax, GroupLoader: p.rules,
		// A pending alert continues to wait after a restart, however short its "for" is.
		OutageTolerance: outageTolerance, ForGracePeriod: 0, RestoreNewRuleGroups: false,
		// The states send the reminders, so they need the result of every evaluation.
		ResendDelay: time.Millisecond,
	})
	p.manager.Store(manager)
	return manager, p.update(manager)
}

// waitable reports whether the pager can wait for the end of an error: the disk is full.
func waitable(err error) bool { return errors.Is(err, errNoSpace) || atomicfile.IsDiskFull(err) }
